/** `headrace repos …`, except `clone`. */
import type { Branch, Inspection, Repository, ScmUpdateRepositoryInput } from '@headrace/client';
import { requireChange } from '../core/body.ts';
import type { Cli } from '../core/cli.ts';
import { atMostOne } from '../core/input.ts';
import type { Detail } from '../terminal/details.ts';
import { oneLine } from '../terminal/escape.ts';
import type { Column } from '../terminal/table.ts';
import { ago, bytes } from '../terminal/times.ts';
import { installationNamed, rememberRepository, repositoryNamed } from './named.ts';

const COLUMNS: readonly Column<Repository>[] = [
  { header: 'ID', value: ({ id }) => id, whole: true },
  { header: 'NAME', value: ({ fullName }) => fullName, color: () => 'bold' },
  { header: 'HOST', value: ({ provider }) => provider },
  { header: 'BRANCH', value: ({ defaultBranch }) => defaultBranch },
  { header: 'CREATED', value: ({ createdAt }) => ago(createdAt) },
];

interface Filters {
  limit: number | undefined;
  query: string | undefined;
  installation: string | undefined;
}

export async function listRepositories(cli: Cli, { limit, query, installation }: Filters): Promise<void> {
  const installationId = installation === undefined ? undefined : await installationNamed(cli, installation);
  await cli.list({
    member: 'repositories',
    page: (options) => cli.client.scm.listRepositories({ ...options, query, installationId }),
    columns: COLUMNS,
    filters: { query, installation },
    empty: 'There are no repositories yet. → headrace repos create NAME',
    limit,
  });
}

export async function showRepository(cli: Cli, text: string): Promise<void> {
  const id = await repositoryNamed(cli, text);
  print(cli, await cli.client.scm.getRepository(id, { signal: cli.signal }));
}

function print(cli: Cli, repository: Repository): void {
  rememberRepository(cli, repository.id);
  cli.show({ repository }, () =>
    cli.details([
      ['ID', repository.id],
      ['Name', repository.fullName, 'bold'],
      ['Host', repository.provider],
      ['Default branch', repository.defaultBranch],
      ['Merge methods', repository.mergeMethods.join(', ')],
      ['Required checks', repository.requiredChecks.join(', ') || 'none'],
      ['Clone', repository.cloneUrl],
      ['Archived', repository.archived ? 'yes' : undefined],
    ]),
  );
}

export async function createRepository(
  cli: Cli,
  name: string,
  defaultBranch: string | undefined,
): Promise<void> {
  print(cli, await cli.write((client) => client.scm.createRepository({ name, defaultBranch }, sent(cli))));
  cli.say(`headrace repos clone ${name} clones it.`);
}

const sent = ({ signal }: Cli) => ({ signal });

interface Changes {
  branch: string | undefined;
  'required-check': string[];
  'no-required-checks': boolean;
  'merge-method': ('merge' | 'squash' | 'rebase')[];
}

export async function updateRepository(cli: Cli, text: string, changes: Changes): Promise<void> {
  const { branch, 'required-check': checks, 'merge-method': mergeMethods } = changes;
  const isFreed = changes['no-required-checks'];
  atMostOne(changes, ['required-check', 'no-required-checks']);
  const body = requireChange<ScmUpdateRepositoryInput>({
    ...(branch !== undefined && { defaultBranch: branch }),
    ...((isFreed || checks.length > 0) && { requiredChecks: checks }),
    ...(mergeMethods.length > 0 && { mergeMethods }),
  });
  const id = await repositoryNamed(cli, text);
  print(cli, await cli.write((client) => client.scm.updateRepository(id, body, sent(cli)), id));
}

export async function deleteRepository(cli: Cli, text: string): Promise<void> {
  const id = await repositoryNamed(cli, text);
  await cli.requireYes(async () => {
    const { fullName } = await cli.client.scm.getRepository(id, { signal: cli.signal });
    return `Delete the repository ${oneLine(fullName)} with all its branches?`;
  });
  const repository = await cli.write((client) => client.scm.deleteRepository(id, sent(cli)), id);
  cli.show({ repository }, () => `Deleted ${oneLine(repository.fullName)}.`);
}

const BRANCHES: readonly Column<Branch>[] = [
  { header: 'BRANCH', value: ({ name }) => name, color: () => 'bold' },
  { header: 'COMMIT', value: ({ commitSha }) => commitSha, whole: true },
  { header: '', value: ({ isDefault, protected: isProtected }) => noteOf(isDefault, isProtected) },
];
const noteOf = (isDefault: boolean, isProtected: boolean) =>
  [isDefault && 'default', isProtected && 'protected'].filter((note) => note !== false).join(', ');

export async function listBranches(
  cli: Cli,
  text: string,
  { limit, query }: Pick<Filters, 'limit' | 'query'>,
): Promise<void> {
  const id = await repositoryNamed(cli, text);
  await cli.list({
    member: 'branches',
    page: (options) => cli.client.scm.listBranches(id, { ...options, query }),
    columns: BRANCHES,
    empty: 'The repository has no branches yet: it is empty. → headrace repos clone, then git push',
    limit,
  });
}

export async function inspectRepository(cli: Cli, text: string, ref: string | undefined): Promise<void> {
  const id = await repositoryNamed(cli, text);
  const inspection = await cli.client.scm.inspectRepository(id, { ref, signal: cli.signal });
  cli.show({ inspection }, () => cli.details(inspected(inspection)));
}

const inspected = (inspection: Inspection): Detail[] => [
  ['Ref', inspection.ref],
  ['Commit', inspection.commitSha ?? 'none: the repository is empty'],
  ['Files', String(inspection.fileCount)],
  ['Size', bytes(inspection.byteSize)],
  [
    'Kept aside',
    inspection.keptAsideCount > 0
      ? `${inspection.keptAsideCount} entries that threads do not see: links, submodules, refused names`
      : undefined,
  ],
  ['Usable', inspection.withinLimits ? 'yes' : 'no: it is over the limits of a project'],
  ['Listing', inspection.truncated ? 'incomplete: the figures are too low' : undefined],
  ['Git LFS', inspection.usesLfs ? 'yes: threads see pointers' : undefined],
  ['Push', inspection.canPush ? 'the service may push' : 'the service may not push'],
];
