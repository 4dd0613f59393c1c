/** One of everything, at rest: what reads read, and what refused requests name. Made once for each organization. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Actor, Calls, Made } from './actors.ts';

export const PLATFORM = '/api/platform/v1';

/** Ids by the name of the path's parameter. `projectId` is a Direct project. */
export type Ids = Record<string, string>;

export interface Exhibits {
  ids: Ids;
  /** Paths of the exhibited source's files. */
  files: string[];
  /** A source of the app before the exhibited one. */
  baseSourceId: string;
  /** A Platform app whose commands ask. */
  askingAppId: string;
}

const WAIT_MS = 60_000;

/** `runs`: a worker and a runner are there. Without, there is an app, sources and a thread with a message only. */
export async function makeExhibits({ call, account, invite }: Calls, key: Actor, owner: Actor, organizationId: string): Promise<Exhibits> {
  const app = (await call(key, 'POST', `${PLATFORM}/apps`, { name: 'Exhibit' })).app.id as string;
  const at = `${PLATFORM}/apps/${app}`;
  const files = ['README.md', 'src/index.ts', 'bin/run'];
  const first = (await call(key, 'POST', `${at}/sources`, { files: files.map((path) => ({ path, content: `${path}\n`, executable: path === 'bin/run' })) })).source.id as string;
  await call(key, 'POST', `${at}/source-head/initialize`, { sourceId: first });
  const threadId = (await call(key, 'POST', `${at}/threads`, {})).thread.id as string;
  const edited = await call(key, 'POST', `${at}/threads/${threadId}/edits`, { expectedSourceId: first, changes: [{ path: 'src/index.ts', content: 'edited\n' }] });
  const thread = `${at}/threads/${threadId}`;
  const checkpointId = (await call(key, 'GET', `${thread}/checkpoints`)).checkpoints[0].id as string;

  const askingAppId = (await call(key, 'POST', `${PLATFORM}/apps`, { name: 'Asks', metadata: {} })).app.id as string;
  const asking = `${PLATFORM}/apps/${askingAppId}`;
  await call(key, 'PATCH', `${asking}/settings`, { approvals: [{ tool: 'sh', decision: 'ask' }] });
  const askingSource = (await call(key, 'POST', `${asking}/sources`, { files: [] })).source.id as string;
  await call(key, 'POST', `${asking}/source-head/initialize`, { sourceId: askingSource });

  const runId = (await call(key, 'POST', `${thread}/messages`, { content: '```sh\necho shown > shown.txt\n```' })).run.id as string;
  await until(() => call(key, 'GET', `${thread}/runs/${runId}?waitSeconds=10`), ({ run }) => ['completed', 'failed'].includes(run.status as string), 'the run');
  const buildId = (await call(key, 'POST', `${thread}/builds`, { command: 'echo built > out.txt', outputDirectory: '.' })).build.id as string;
  const previewId = (await call(key, 'POST', `${thread}/previews`, { command: 'sleep 600', port: 3000 })).preview.id as string;
  await until(() => call(key, 'GET', `${at}/builds/${buildId}?waitSeconds=10`), ({ build }) => build.status === 'ready', 'the build');
  await call(key, 'DELETE', `${at}/previews/${previewId}`);
  const applied = (await call(key, 'POST', `${at}/threads`, {})).thread.id as string;
  const clientOperationId = 'the exhibited apply';
  const applyId = (await call(key, 'POST', `${at}/threads/${applied}/apply`, { expectedSourceId: first, clientOperationId: clientOperationId.replaceAll(' ', '-') }, clientOperationId.replaceAll(' ', '-'))).apply.id as string;
  await until(() => call(key, 'GET', `${at}/applies/${applyId}?waitSeconds=10`), ({ apply }) => apply.status === 'applied', 'the apply');
  const { accountId, credentialId } = await account(owner);
  const operations = await call(key, 'POST', '/api/projects', { name: 'Direct' });
  return {
    files, baseSourceId: first, askingAppId,
    ids: {
      appId: app, projectId: operations.project.id as string, sourceId: edited.source.id as string, threadId, runId, checkpointId, applyId, buildId, previewId, accountId, credentialId, organizationId,
      userId: (await invite(owner, 'member')).userId, provider: 'openai', token: 'a'.repeat(43),
    },
  };
}

/** Asks until the answer is right; throws when that takes too long. */
export async function until(ask: () => Promise<Made>, isRight: (answer: Made) => boolean, what: string): Promise<Made> {
  for (const deadline = Date.now() + WAIT_MS; ; await sleep(20)) {
    const answer = await ask();
    if (isRight(answer)) return answer;
    if (Date.now() > deadline) throw new Error(`${what} did not get there in time: ${JSON.stringify(answer).slice(0, 500)}`);
  }
}
