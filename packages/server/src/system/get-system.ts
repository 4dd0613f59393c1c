import Type from 'typebox';
import { read } from '../http/operation.ts';
import { Counter, Enum, Nullable, Ok, Text, Time } from '../http/schemas.ts';
import { readGauges } from './read-gauges.ts';
import { readParts } from './read-parts.ts';
import { fleetViews, processView, readProcesses, runnerViews } from './read-processes.ts';
import { readQueues } from './read-queues.ts';

const Amount = Type.Number({ minimum: 0, examples: [12] });

const System = Type.Object({
  version: Text('0.1.0'),
  startedAt: Time,
  parts: Type.Array(
    Type.Object({
      name: Enum(['database', 'storage', 'sandbox', 'limiter', 'publisher', 'gateway'] as const),
      status: Enum(['ok', 'degraded', 'down'] as const),
      message: Nullable(
        Text('Events are published 14 s late.', { description: 'What is wrong; null when ok.' }),
      ),
    }),
  ),
  processes: Type.Array(
    Type.Object({
      id: Text('wrk_01k9x3v5e8f7arh2m4t6w8y0zb'),
      host: Text('node-1'),
      roles: Type.Array(Enum(['api', 'worker', 'runner'] as const)),
      startedAt: Time,
      lastSeenAt: Time,
    }),
    { description: 'A silent one is listed for an hour.' },
  ),
  queues: Type.Array(
    Type.Object({
      name: Text('runs'),
      waiting: Type.Integer({
        minimum: 0,
        examples: [3],
        description: 'Runs and builds that a limit holds back among them.',
      }),
      running: Counter,
      oldestSeconds: Nullable(Amount),
      failing: Type.Integer({ minimum: 0, examples: [0], description: 'Jobs whose last attempt failed.' }),
    }),
  ),
  log: Type.Object({
    lagMs: Amount,
    retainedFrom: Nullable({ ...Time, description: 'Of the oldest event.' }),
  }),
  database: Type.Object({ version: Text('18.1'), byteSize: Counter, connections: Counter }),
  storage: Type.Object({
    kind: Enum(['folder', 's3'] as const),
    byteSize: Nullable(
      Type.Integer({
        minimum: 0,
        examples: [73_400_320],
        description: 'Packs and artifacts; null where there are too many to add up.',
      }),
    ),
  }),
  runners: Type.Array(
    Type.Object({
      id: Text('local'),
      host: Text('node-1'),
      driver: Enum(['bubblewrap', 'container', 'none'] as const),
      limits: Type.Object({
        memory: Text('cgroup'),
        processes: Text('cgroup'),
        cpu: Text('cgroup'),
      }),
      warnings: Type.Array(Type.String()),
      sandboxes: Counter,
      memoryBytes: Nullable(Counter),
      freeBytes: Nullable(Counter),
      egressRefused: Counter,
    }),
  ),
  config: Type.Array(
    Type.Object({
      name: Text('HEADRACE_RATE_LIMIT'),
      value: Nullable(
        Text('600', { description: 'As it was set; null where it was not, *** where it is secret.' }),
      ),
      isDefault: Type.Boolean(),
    }),
  ),
});

export const getSystem = read({
  name: 'system.getSystem',
  summary: 'Read the state of the deployment',
  description:
    'Parts, processes, queues, the log, database, storage, runners and configuration. Requires an owner or admin of the first organization.',
  access: { session: 'admin', operator: true },
  responses: { 200: Ok({ system: System }) },
  async handle({ ctx }) {
    const [processes, queues, gauges] = await Promise.all([
      readProcesses(ctx.db),
      readQueues(ctx.db),
      readGauges(ctx.db),
    ]);
    const system = {
      version: ctx.version,
      startedAt: new Date(performance.timeOrigin).toISOString(),
      parts: await readParts(ctx, processes, gauges.lag_ms),
      processes: processes.map(processView),
      queues,
      log: { lagMs: gauges.lag_ms, retainedFrom: gauges.retained_from?.toISOString() ?? null },
      database: {
        version: gauges.version,
        byteSize: gauges.byte_size,
        connections: gauges.connections,
      },
      storage: { kind: ctx.config.s3 ? 's3' : 'folder', byteSize: gauges.stored_bytes },
      runners: ctx.fleet ? await fleetViews(ctx.db) : runnerViews(processes),
      config: ctx.config.settings,
    };
    return { status: 200, body: { ok: true, system } };
  },
});
