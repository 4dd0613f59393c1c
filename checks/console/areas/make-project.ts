/** Projects and their threads, made over the API. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client, Project, Thread } from '@headrace/client';

export const GARDEN = [
  { path: 'README.md', content: '# Garden\n\nWhat grows where.\n' },
  { path: 'src/beds.ts', content: 'export const beds = 3;\n' },
  { path: 'src/plants.ts', content: "export const plants = ['thyme', 'sage'];\n" },
];

/** Of a new repository, whose first commit has the files. */
export async function boundProject(client: Client, repository: string, name: string): Promise<Project> {
  const { id } = await client.scm.createRepository({
    name: repository,
    files: GARDEN,
    message: 'Begin the garden',
  });
  return client.projects.create({ name, repositoryId: id, metadata: { team: 'garden' } });
}

const LIMIT_MS = 30_000;
const POLL_MS = 40;

/** Once it is set up, and its run, if it has one, has ended. */
export async function threadOf(
  client: Client,
  project: Project,
  input: Omit<Parameters<Client['threads']['createDirect']>[0], 'projectId'>,
): Promise<Thread> {
  const made = await client.threads.createDirect({ projectId: project.id, ...input });
  const handle = client.thread(made.thread.id);
  let thread = await handle.get();
  for (const deadline = Date.now() + LIMIT_MS; Date.now() < deadline;) {
    const { status, latestRunId } = thread;
    if (status === 'ready' && (input.message === undefined || latestRunId !== null)) return thread;
    await sleep(POLL_MS);
    thread = await handle.get();
  }
  throw new Error(`The thread is ${thread.status}: ${JSON.stringify(thread)}`);
}
