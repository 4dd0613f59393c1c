/** Threads of a hosted repository whose pull requests are in the states that pages show, made over the API. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client, CreatePullRequestInput, Project, PullRequest, Thread } from '@headrace/client';

const LIMIT_MS = 30_000;
const POLL_MS = 40;

const FILES = [
  { path: 'README.md', content: '# Garden\n\nWhat grows, and how often it is watered.\n' },
  { path: 'plants.txt', content: 'fern, weekly\nrose, daily\n' },
];

/** A project of its own with a repository of its own. */
export async function newGarden(client: Client, name: string, files = FILES): Promise<Project> {
  const slug = `${name.toLowerCase().replaceAll(' ', '-')}-${crypto.randomUUID().slice(0, 8)}`;
  const repository = await client.scm.createRepository({ name: slug, files });
  return client.projects.create({ name, repositoryId: repository.id });
}

export interface Opened {
  project: Project;
  threadId: string;
  pull: PullRequest;
}

interface Change {
  title: string;
  path?: string;
  content?: string;
  baseBranch?: string;
}

/** A thread of the project with one changed file. */
export async function changedThread(
  client: Client,
  project: Project,
  { title, path = 'plants.txt', content = 'fern, weekly\nrose, twice a day\n', baseBranch }: Change,
): Promise<Thread> {
  const { thread } = await client.threads.createDirect({
    projectId: project.id,
    title,
    ...(baseBranch && { baseBranch }),
  });
  const ready = await untilThat(
    () => client.thread(thread.id).get(),
    ({ initializationState }) => initializationState === 'completed',
  );
  await client.thread(thread.id).edits.create({
    expectedSourceId: ready.latestSourceId!,
    changes: [{ path, content }],
  });
  return client.thread(thread.id).get();
}

/** The same, with its pull request. */
export async function openPull(
  client: Client,
  project: Project,
  change: Change,
  body: CreatePullRequestInput = {},
): Promise<Opened> {
  const thread = await changedThread(client, project, change);
  const pull = await client.pullRequests.create(thread.id, { body: BODY, ...body });
  return { project, threadId: thread.id, pull };
}

const BODY = 'Roses need more water in summer.\n\n- measured in *July*\n- agreed with the gardener\n';

export const pullNow = (client: Client, { threadId, pull }: Opened): Promise<PullRequest> =>
  client.pullRequests.get(threadId, pull.id).then((now) => now);

/** Reads until it is as wanted. */
export async function untilThat<T>(read: () => PromiseLike<T>, isDone: (value: T) => boolean): Promise<T> {
  let value = await read();
  for (const deadline = Date.now() + LIMIT_MS; Date.now() < deadline;) {
    if (isDone(value)) return value;
    await sleep(POLL_MS);
    value = await read();
  }
  throw new Error(`It did not become so: ${JSON.stringify(value)}`);
}

/** Looks at the provider until the pull request is as wanted. */
export const untilPull = (
  client: Client,
  opened: Opened,
  isDone: (pull: PullRequest) => boolean,
): Promise<PullRequest> => untilThat(() => pullNow(client, opened), isDone);

export async function report(
  client: Client,
  opened: Opened,
  state: 'success' | 'failure' | 'pending',
  context = 'tests',
): Promise<void> {
  const { headSha } = await pullNow(client, opened);
  await client.scm.createStatus(opened.project.repositoryId!, headSha, {
    context,
    state,
    ...(state === 'failure' && { log: 'expected: rose, daily' }),
  });
}

/** Of two checks one fails. */
export async function failing(client: Client, project: Project): Promise<Opened> {
  const opened = await openPull(client, project, { title: 'Water the roses twice' });
  await report(client, opened, 'failure');
  await report(client, opened, 'success', 'lint');
  await client.pullRequests.sync(opened.threadId, opened.pull.id);
  const pull = await untilPull(client, opened, ({ scmSummary }) => scmSummary?.checks.failing === 1);
  return { ...opened, pull };
}

/** Its loop has no script to work with. */
export async function blocked(client: Client, project: Project): Promise<Opened> {
  const opened = await openPull(
    client,
    project,
    { title: 'Count the ferns' },
    { reviewLoop: { enabled: true } },
  );
  await report(client, opened, 'failure');
  const pull = await untilPull(client, opened, ({ reviewLoop }) => reviewLoop?.status === 'blocked');
  return { ...opened, pull };
}

/** The same, while another check runs: started again, it waits for that. */
export async function blockedMeanwhile(client: Client, project: Project): Promise<Opened> {
  const opened = await blocked(client, project);
  await report(client, opened, 'pending', 'slow');
  const pull = await untilPull(client, opened, ({ scmSummary }) => scmSummary?.checks.running === 1);
  return { ...opened, pull };
}

/** Green, and nobody merges it. */
export async function ready(client: Client, project: Project): Promise<Opened> {
  const change = { title: 'Name the herbs', path: 'herbs.txt', content: 'sage\n' };
  const opened = await openPull(client, project, change, { reviewLoop: { enabled: true } });
  await report(client, opened, 'success');
  const pull = await untilPull(client, opened, ({ reviewLoop }) => reviewLoop?.status === 'ready');
  return { ...opened, pull };
}

/** The thread has a change that is not pushed. */
export async function behind(client: Client, project: Project): Promise<Opened> {
  const opened = await openPull(client, project, { title: 'Water the roses' });
  await client.pullRequests.update(opened.threadId, opened.pull.id, { autoPush: false });
  const thread = client.thread(opened.threadId);
  const { latestSourceId } = await thread.get();
  const changes = [{ path: 'herbs.txt', content: 'sage\n' }];
  await thread.edits.create({ expectedSourceId: latestSourceId!, changes });
  return opened;
}

/** Others and the thread have changed the same line of the branch. */
export async function diverged(client: Client, project: Project): Promise<Opened> {
  const opened = await openPull(client, project, { title: 'Prune in spring' });
  const { threadId, pull } = opened;
  await client.pullRequests.update(threadId, pull.id, { autoPush: false });
  const { latestSourceId } = await client.thread(threadId).get();
  await client.thread(threadId).edits.create({
    expectedSourceId: latestSourceId!,
    changes: [{ path: 'plants.txt', content: 'fern, weekly\nrose, in March\n' }],
  });
  const others = await openPull(client, project, {
    title: 'Prune in autumn',
    content: 'fern, weekly\nrose, in October\n',
    baseBranch: pull.headRef,
  });
  await client.pullRequests.merge(others.threadId, others.pull.id);
  await client.pullRequests.sync(threadId, pull.id);
  return { ...opened, pull: await untilPull(client, opened, ({ push }) => push.status === 'diverged') };
}

export async function merged(client: Client, project: Project): Promise<Opened> {
  const change = { title: 'Plant a tree', path: 'trees.txt', content: 'apple\n' };
  const opened = await openPull(client, project, change);
  return { ...opened, pull: await client.pullRequests.merge(opened.threadId, opened.pull.id) };
}

/** The loop has had one pass, and waits for the checks of what it pushed. */
export async function passed(client: Client): Promise<Opened> {
  const project = await newGarden(client, 'Orchard');
  await client.project(project.id).settings.update({
    reviewLoop: {
      enabled: true,
      autoMerge: false,
      maxPasses: 4,
      mergeMethod: null,
      instructions: 'Make the checks green.\n\n```file plants.txt\nfern, weekly\nrose, daily, watered\n```\n',
      reply: true,
    },
  });
  const opened = await openPull(client, project, { title: 'Water the orchard' });
  await report(client, opened, 'failure');
  const pull = await untilPull(
    client,
    opened,
    ({ headSha, reviewLoop }) => headSha !== opened.pull.headSha && reviewLoop?.status === 'waiting_checks',
  );
  return { ...opened, pull };
}

/** A newer change of the thread is on the branch. */
export async function push(client: Client, opened: Opened): Promise<void> {
  const thread = client.thread(opened.threadId);
  const { latestSourceId } = await thread.get();
  const changes = [{ path: 'herbs.txt', content: 'sage\n' }];
  await thread.edits.create({ expectedSourceId: latestSourceId!, changes });
  await untilPull(client, opened, ({ headSha }) => headSha !== opened.pull.headSha);
}
