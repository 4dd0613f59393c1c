/** What happened in a thread: `runs`, `messages`, `checkpoints`, `approvals`, and the answers to approvals. */
import type { Approval, Checkpoint, Message, Run } from '@headrace/client';
import type { Cli } from '../core/cli.ts';
import { EXIT } from '../core/exit.ts';
import { Fault, usage } from '../core/fault.ts';
import { idOf } from '../core/names.ts';
import { oneLine } from '../terminal/escape.ts';
import { usd } from '../terminal/money.ts';
import { statusColor } from '../terminal/style.ts';
import type { Column } from '../terminal/table.ts';
import { ago, lasting } from '../terminal/times.ts';
import { threadPlace } from './place.ts';
import type { Place } from './place.ts';

export const RUN_COLUMNS: readonly Column<Run>[] = [
  { header: 'ID', value: ({ id }) => id, whole: true },
  {
    header: 'STATUS',
    value: ({ status }) => status,
    color: ({ status }) => statusColor(status),
    whole: true,
  },
  { header: 'KIND', value: ({ kind }) => kind },
  { header: 'MODEL', value: ({ modelId }) => modelId },
  { header: 'TOOK', value: ({ activeDurationMs }) => lasting(activeDurationMs), right: true },
  { header: 'COST', value: ({ usage: { costMicros } }) => usd(costMicros), right: true },
  { header: 'CREATED', value: ({ createdAt }) => ago(createdAt) },
];
const MESSAGE_COLUMNS: readonly Column<Message>[] = [
  { header: 'NUMBER', value: ({ sequence }) => sequence, right: true },
  { header: 'BY', value: ({ role }) => role, whole: true },
  { header: 'CREATED', value: ({ createdAt }) => ago(createdAt), whole: true },
  { header: 'TEXT', value: ({ content }) => content },
];
const CHECKPOINT_COLUMNS: readonly Column<Checkpoint>[] = [
  { header: 'ID', value: ({ id }) => id, whole: true },
  { header: 'BY', value: ({ kind }) => kind },
  { header: 'SOURCE', value: ({ sourceId }) => sourceId, whole: true },
  { header: 'CREATED', value: ({ createdAt }) => ago(createdAt) },
];
const APPROVAL_COLUMNS: readonly Column<Approval>[] = [
  { header: 'ID', value: ({ id }) => id, whole: true },
  {
    header: 'STATUS',
    value: ({ status }) => status,
    color: ({ status }) => statusColor(status),
    whole: true,
  },
  { header: 'WHAT', value: ({ title }) => title, color: () => 'bold' },
  { header: 'CREATED', value: ({ createdAt }) => ago(createdAt) },
  {
    header: 'EXPIRES',
    value: ({ status, expiresAt }) => (status === 'pending' ? ago(expiresAt) : null),
  },
];

interface Limit {
  limit: number | undefined;
}

export async function listRuns(cli: Cli, text: string | undefined, { limit }: Limit): Promise<void> {
  const { of } = await threadPlace(cli, text);
  await cli.list({
    member: 'runs',
    page: (options) => of(cli.client).runs.list(options),
    columns: RUN_COLUMNS,
    empty: 'The thread has no runs yet. → headrace send THREAD "What is to be done"',
    limit,
  });
}

export async function listMessages(
  cli: Cli,
  text: string | undefined,
  { limit, order, inherited }: Limit & { order: 'asc' | 'desc' | undefined; inherited: boolean },
): Promise<void> {
  const { of } = await threadPlace(cli, text);
  await cli.list({
    member: 'messages',
    page: (options) => of(cli.client).messages.list({ ...options, order, ...(inherited && { inherited }) }),
    columns: MESSAGE_COLUMNS,
    empty: 'The thread has no messages yet. → headrace send THREAD "What is to be done"',
    limit,
  });
}

export async function listCheckpoints(cli: Cli, text: string | undefined, { limit }: Limit): Promise<void> {
  const { of } = await threadPlace(cli, text);
  await cli.list({
    member: 'checkpoints',
    page: (options) => of(cli.client).checkpoints.list(options),
    columns: CHECKPOINT_COLUMNS,
    empty: 'The thread has no checkpoints yet: each run and edit that changes a file makes one.',
    limit,
  });
}

export async function listApprovals(cli: Cli, text: string | undefined, { limit }: Limit): Promise<void> {
  const { of } = await threadPlace(cli, text);
  await cli.list({
    member: 'approvals',
    page: (options) => of(cli.client).approvals.list(options),
    columns: APPROVAL_COLUMNS,
    empty: 'The agent has not asked for anything.',
    limit,
  });
}

interface Answer {
  thread: string | undefined;
  decision: 'approve' | 'deny';
  remember: boolean;
}

/** Without an id, the only one that waits is meant. */
export async function answerApproval(
  cli: Cli,
  text: string | undefined,
  { thread, decision, remember }: Answer,
): Promise<void> {
  const place = await threadPlace(cli, thread);
  const id = text === undefined ? await onlyPending(cli, place) : await approvalNamed(cli, place, text);
  const approval = await cli.write((client) =>
    place
      .of(client)
      .approvals.answer(id, { decision, ...(remember && { remember }) }, { signal: cli.signal }),
  );
  cli.show({ approval }, () => `${approval.id}  ${approval.status}  ${oneLine(approval.title)}`);
}

const approvalNamed = (cli: Cli, place: Place, text: string): Promise<string> =>
  idOf(text, {
    what: 'approval',
    prefix: 'apr_',
    listing: 'headrace approvals',
    async *list() {
      for await (const { id, title } of place
        .of(cli.client)
        .approvals.list({ limit: 200, signal: cli.signal }))
        yield { id, label: title };
    },
  });

async function onlyPending(cli: Cli, place: Place): Promise<string> {
  const pending: Approval[] = [];
  for await (const approval of place.of(cli.client).approvals.list({ limit: 200, signal: cli.signal }))
    if (approval.status === 'pending') pending.push(approval);
  const [one, ...others] = pending;
  if (!one)
    throw new Fault(EXIT.notFound, 'No approval waits for an answer.', { hint: 'headrace approvals' });
  if (others.length === 0) return one.id;
  const some = pending.map(({ id, title }) => `${id} ${oneLine(title)}`).join(', ');
  throw usage(`Several approvals wait for an answer: ${some}.`, 'Give the id of one.');
}
