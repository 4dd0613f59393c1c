/** `headrace automations run`, `executions`, `execution` */
import type { Execution } from '@headrace/client';
import { readObject } from '../core/body.ts';
import type { Cli } from '../core/cli.ts';
import { EXIT } from '../core/exit.ts';
import type { Exit } from '../core/exit.ts';
import { idNamed } from '../core/ids.ts';
import { statusColor } from '../terminal/style.ts';
import type { Column } from '../terminal/table.ts';
import { ago, dated, lasting } from '../terminal/times.ts';
import { automationNamed } from './automations.ts';

type Status = Execution['status'];

const startOf = ({ trigger: { kind, eventType } }: Execution) => eventType ?? kind;
const tookOf = ({ startedAt, finishedAt }: Execution) =>
  startedAt === null || finishedAt === null ? null : lasting(Date.parse(finishedAt) - Date.parse(startedAt));
const outcomeOf = ({ status, skippedReason, error }: Execution) =>
  status + (skippedReason ? `: ${skippedReason}` : error ? `: ${error.message}` : '');

const COLUMNS: readonly Column<Execution>[] = [
  { header: 'ID', value: ({ id }) => id, whole: true },
  { header: 'STATUS', value: outcomeOf, color: ({ status }) => statusColor(status) },
  { header: 'BY', value: startOf },
  { header: 'CREATED', value: ({ createdAt }) => ago(createdAt) },
  { header: 'TOOK', value: tookOf, right: true },
  { header: 'THREAD', value: ({ threadId }) => threadId },
];

interface Filters {
  status: Status | undefined;
  limit: number | undefined;
}

export async function listExecutions(cli: Cli, text: string, { status, limit }: Filters): Promise<void> {
  const id = await automationNamed(cli, text);
  await cli.list({
    member: 'executions',
    page: (options) =>
      cli.client.automations.executions(id, { ...options, ...(status !== undefined && { status }) }),
    columns: COLUMNS,
    filters: { status },
    empty: `The automation has not started yet. → headrace automations run ${id}`,
    limit,
  });
}

const textOf = (cli: Cli, execution: Execution, payload: unknown = null) =>
  cli.details([
    ['ID', execution.id],
    ['Status', outcomeOf(execution), statusColor(execution.status)],
    ['By', startOf(execution)],
    ['For', execution.trigger.scheduledFor ?? undefined],
    ['Thread', execution.threadId ?? undefined],
    ['Run', execution.runId ?? undefined],
    ['Pull request', execution.pullRequestId ?? undefined],
    ['Created', dated(execution.createdAt)],
    ['Took', tookOf(execution) ?? undefined],
    ['Payload', payload === null ? undefined : JSON.stringify(payload)],
  ]);

interface Waiting {
  wait: boolean;
  timeout: number | undefined;
}

export async function showExecution(cli: Cli, text: string, which: string, waiting: Waiting): Promise<Exit> {
  const automationId = await automationNamed(cli, text);
  const id = await idNamed<Execution>(cli, which, {
    what: 'execution',
    prefix: 'exe_',
    listing: `headrace automations executions ${automationId}`,
    list: (options) => cli.client.automations.executions(automationId, options),
    named: ({ id: executionId, status }) => ({ id: executionId, label: status }),
  });
  const call = cli.client.automations.execution(automationId, id, { signal: cli.signal });
  const execution = await (waiting.wait ? call.done(limitsOf(cli, waiting)) : call);
  cli.show({ execution }, () => textOf(cli, execution, execution.payload));
  return waiting.wait ? exitOf(execution) : EXIT.done;
}

interface RunOptions extends Waiting {
  payload: string | undefined;
}

export async function runAutomation(cli: Cli, text: string, options: RunOptions): Promise<Exit> {
  const payload = options.payload === undefined ? undefined : await readObject(cli, options.payload);
  const id = await automationNamed(cli, text);
  const started = await cli.write(
    (client) => client.automations.run(id, payload ? { payload } : {}, { signal: cli.signal }),
    JSON.stringify(payload),
  );
  const execution = options.wait ? await ended(cli, started, options) : started;
  cli.show({ execution }, () => textOf(cli, execution));
  return options.wait || execution.status === 'skipped' ? exitOf(execution) : EXIT.done;
}

async function ended(cli: Cli, { id, automationId }: Execution, waiting: Waiting): Promise<Execution> {
  cli.say(`Execution ${id} is queued. Ctrl-C ends the waiting, not the execution.`);
  const { payload: _, ...execution } = await cli.client.automations
    .execution(automationId, id)
    .done(limitsOf(cli, waiting));
  return execution;
}

const limitsOf = (cli: Cli, { timeout }: Waiting) => ({
  signal: cli.signal,
  ...(timeout !== undefined && { timeoutMs: timeout }),
});

function exitOf({ status }: Execution): Exit {
  if (status === 'completed') return EXIT.done;
  return status === 'skipped' ? EXIT.busy : EXIT.failed;
}
