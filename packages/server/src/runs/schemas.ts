import Type from 'typebox';
import { Counter, Enum, Id, Micros, Nullable, Text, Time } from '../http/schemas.ts';
import { RUN_STATUSES } from '../threads/index.ts';

const RUN_ERRORS = [
  'script_failed',
  'agent_error',
  'model_error',
  'spend_limit_reached',
  'invalid_result',
  'not_configured',
  'sandbox_lost',
  'worker_lost',
  'host_lost',
  'workspace_unavailable',
] as const;
export type RunError = (typeof RUN_ERRORS)[number];

export const Run = Type.Object({
  id: Id('run'),
  threadId: Id('thr'),
  messageId: Nullable(Id('msg')),
  kind: Enum(['message', 'restore', 'repair', 'retry']),
  agent: Text('scripted'),
  modelId: Text('scripted'),
  status: Enum(RUN_STATUSES),
  baseSourceId: Nullable(Id('src')),
  resultSourceId: Nullable(Id('src', 'Equals the base when nothing changed; null unless completed.')),
  error: Nullable(Type.Object({ code: Enum(RUN_ERRORS), message: Text('The command exited with 1.') })),
  usage: Type.Object({
    inputTokens: Counter,
    outputTokens: Counter,
    cachedTokens: Counter,
    costMicros: Micros,
  }),
  warnings: Type.Array(Type.Object({ path: Text('node_modules/'), reason: Text('a dependency folder') }), {
    description:
      'What the capture left out, and hosts that the sandbox was refused. Reason `secret`: a file that the run has added, changed or renamed holds the value of a secret that the run was given; it is part of the result.',
  }),
  activeDurationMs: Counter,
  createdAt: Time,
  startedAt: Nullable(Time),
  finishedAt: Nullable(Time),
});

export const Tool = Type.Object({
  id: Id('tool'),
  threadId: Id('thr'),
  runId: Id('run'),
  name: Text('sh'),
  title: Nullable(Text('npm test')),
  status: Enum(['pending', 'running', 'completed', 'failed', 'cancelled']),
  input: Type.Unsafe<unknown>({ examples: [{ command: 'npm test\n' }] }),
  output: Nullable(Text('ok\n')),
  truncated: Type.Boolean({ examples: [false] }),
  startedAt: Nullable(Time),
  finishedAt: Nullable(Time),
});
