/** `headrace projects …` */
import type { CreateProjectInput, Project, UpdateProjectInput } from '@headrace/client';
import { assignments, requireChange } from '../core/body.ts';
import type { Cli } from '../core/cli.ts';
import { usage } from '../core/fault.ts';
import { projectNamed, rememberProject } from '../core/ids.ts';
import { oneLine } from '../terminal/escape.ts';
import type { Column } from '../terminal/table.ts';
import { ago } from '../terminal/times.ts';
import { repositoryNamed } from './named.ts';

const COLUMNS: readonly Column<Project>[] = [
  { header: 'ID', value: ({ id }) => id, whole: true },
  { header: 'NAME', value: ({ name }) => name, color: () => 'bold' },
  { header: 'REPOSITORY', value: ({ repoFullName }) => repoFullName },
  { header: 'BRANCH', value: ({ defaultBranch }) => defaultBranch },
  { header: 'CREATED', value: ({ createdAt }) => ago(createdAt) },
];

interface Filters {
  limit: number | undefined;
  repo: string | undefined;
  kind: 'direct' | 'platform' | undefined;
}

export async function listProjects(cli: Cli, { limit, repo, kind }: Filters): Promise<void> {
  const repositoryId = repo === undefined ? undefined : await repositoryNamed(cli, repo);
  await cli.list({
    member: 'projects',
    page: (options) => cli.client.projects.list({ ...options, kind: kind ?? 'direct', repositoryId }),
    columns: COLUMNS,
    filters: { repo, kind },
    empty: 'There are no projects yet. → headrace projects create NAME --repo REPOSITORY',
    limit,
  });
}

export async function showProject(cli: Cli, text: string): Promise<void> {
  const id = await projectNamed(cli, text);
  print(cli, await cli.client.projects.get(id, { signal: cli.signal }));
}

function print(cli: Cli, project: Project): void {
  rememberProject(cli, project.id);
  cli.show({ project }, () =>
    cli.details([
      ['ID', project.id],
      ['Name', project.name, 'bold'],
      ['Repository', project.repoFullName],
      ['Branch', project.defaultBranch],
      ['Commit', project.headCommitSha],
      ['Source', project.headSourceId],
      ['Metadata', Object.entries(project.metadata).map(assigned).join('\n') || undefined],
      ['Created', ago(project.createdAt)],
    ]),
  );
}

const assigned = ([key, value]: [string, string]) => `${key}=${oneLine(value)}`;

interface Fields {
  branch: string | undefined;
  metadata: string[];
}

export async function createProject(
  cli: Cli,
  name: string,
  { repo, branch, metadata }: Fields & { repo: string | undefined },
): Promise<void> {
  const body: CreateProjectInput = {
    name,
    ...(repo !== undefined && { repositoryId: await repositoryNamed(cli, repo) }),
    ...(branch !== undefined && { defaultBranch: branch }),
    ...(await metadataOf(cli, metadata)),
  };
  const about = JSON.stringify(body);
  print(cli, await cli.write((client) => client.projects.create(body, { signal: cli.signal }), about));
}

/** Keys with dots are one key each: `headrace.repairScript`. */
async function metadataOf(
  cli: Cli,
  words: readonly string[],
): Promise<{ metadata?: Record<string, string> }> {
  if (words.length === 0) return {};
  const pairs = words.map(async (word): Promise<[string, string]> => {
    const at = word.indexOf('=');
    if (at < 1) throw usage(`${JSON.stringify(word)} is no metadata: write KEY=TEXT or KEY=@FILE.`);
    const { value } = await assignments(cli, [`value=${word.slice(at + 1)}`]);
    return [word.slice(0, at), value as string];
  });
  return { metadata: Object.fromEntries(await Promise.all(pairs)) };
}

export async function updateProject(
  cli: Cli,
  text: string,
  { name, branch, metadata }: Fields & { name: string | undefined },
): Promise<void> {
  const body = requireChange<UpdateProjectInput>({
    ...(name !== undefined && { name }),
    ...(branch !== undefined && { defaultBranch: branch }),
    ...(await metadataOf(cli, metadata)),
  });
  const id = await projectNamed(cli, text);
  const about = JSON.stringify([id, body]);
  print(cli, await cli.write((client) => client.projects.update(id, body, { signal: cli.signal }), about));
}

export async function deleteProject(cli: Cli, text: string): Promise<void> {
  const id = await projectNamed(cli, text);
  await cli.requireYes(async () => {
    const { name } = await cli.client.projects.get(id, { signal: cli.signal });
    return `Delete the project ${oneLine(name)} with its threads? Its repository stays.`;
  });
  const project = await cli.write((client) => client.projects.delete(id, { signal: cli.signal }), id);
  cli.show({ project }, () => `Deleted ${oneLine(project.name)}.`);
}
