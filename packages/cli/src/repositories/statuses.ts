/** `headrace statuses …`: what CI reports about a commit of a repository that the service hosts. */
import type { CommitStatus, ScmCreateStatusInput } from '@headrace/client';
import type { Cli } from '../core/cli.ts';
import { EXIT } from '../core/exit.ts';
import { Fault, usage } from '../core/fault.ts';
import { readText } from '../core/input.ts';
import { oneLine } from '../terminal/escape.ts';
import { statusColor } from '../terminal/style.ts';
import type { Column } from '../terminal/table.ts';
import { ago } from '../terminal/times.ts';
import { repositoryNamed } from './named.ts';

export const STATUS_COLUMNS: readonly Column<CommitStatus>[] = [
  { header: 'CHECK', value: ({ context }) => context, color: () => 'bold' },
  { header: 'STATE', value: ({ state }) => state, color: ({ state }) => statusColor(state) },
  { header: 'DESCRIPTION', value: ({ description }) => description },
  { header: 'ADDRESS', value: ({ targetUrl }) => targetUrl },
  { header: 'REPORTED', value: ({ createdAt }) => ago(createdAt) },
];

/** Of a whole commit id, or of a branch's newest commit. */
async function commitOf(cli: Cli, repositoryId: string, text: string): Promise<string> {
  if (/^[0-9a-f]{40}([0-9a-f]{24})?$/.test(text)) return text;
  const { commitSha } = await cli.client.scm.inspectRepository(repositoryId, {
    ref: text,
    signal: cli.signal,
  });
  if (commitSha === null) throw new Fault(EXIT.notFound, 'The repository has no commit yet.');
  return commitSha;
}

interface Filters {
  limit: number | undefined;
  all: boolean;
}

export async function listStatuses(
  cli: Cli,
  [repository, commit]: [string, string],
  { limit, all }: Filters,
): Promise<void> {
  const id = await repositoryNamed(cli, repository);
  const sha = await commitOf(cli, id, commit);
  await cli.list({
    member: 'statuses',
    page: (options) => cli.client.scm.listStatuses(id, sha, { ...options, latest: !all }),
    columns: STATUS_COLUMNS,
    empty: `Nothing is reported for ${sha}.`,
    limit,
  });
}

const STATES: readonly string[] = [
  'pending',
  'success',
  'failure',
  'error',
] satisfies CommitStatus['state'][];

interface Reported {
  description: string | undefined;
  'target-url': string | undefined;
  'log-file': string | undefined;
}

/** The API takes so much of a log; what went wrong is at its end. */
const MOST_OF_LOG = 65_536;

export async function createStatus(
  cli: Cli,
  [repository, commit, context, state]: [string, string, string, string],
  { description, 'target-url': targetUrl, 'log-file': file }: Reported,
): Promise<void> {
  if (!STATES.includes(state))
    throw usage(`STATE is one of ${STATES.join(', ')}, not ${JSON.stringify(state)}.`);
  const log = file === undefined ? undefined : await readText(cli, file);
  const id = await repositoryNamed(cli, repository);
  const sha = await commitOf(cli, id, commit);
  if (log !== undefined && log.length > MOST_OF_LOG) cli.say('The last 64 KiB of the log are sent.');
  const body: ScmCreateStatusInput = {
    context,
    state: state as CommitStatus['state'],
    description,
    targetUrl,
    log: log?.slice(-MOST_OF_LOG),
  };
  const about = JSON.stringify([id, sha, body]);
  const status = await cli.write(
    (client) => client.scm.createStatus(id, sha, body, { signal: cli.signal }),
    about,
  );
  cli.show(
    { status },
    () => `${status.commitSha}  ${oneLine(context)}  ${cli.paint(statusColor(state), state)}`,
  );
}
