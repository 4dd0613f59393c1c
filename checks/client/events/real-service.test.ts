/** Streams, views and followed threads with the real service. */
import { createClient } from '@headrace/client';
import type { Client, FollowItem } from '@headrace/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { signedIn } from '../../../packages/server/src/accounts/callers.fixture.ts';
import { startTestServer } from '../../../packages/server/src/service.fixture.ts';
import type { TestServer } from '../../../packages/server/src/service.fixture.ts';
import { sh } from '../../../packages/server/src/threads/threads.fixture.ts';

let s: TestServer;
let headrace: Client;
beforeAll(async () => {
  s = await startTestServer();
  headrace = createClient({ baseUrl: s.base, key: s.key });
});
afterAll(() => s?.close());

const FILES = { files: [{ path: 'a.txt', content: 'a\n' }] };

async function newApp(name: string): Promise<string> {
  const app = await headrace.apps.create({ name });
  const { source } = await headrace.sources.import(app.id, FILES);
  await headrace.head.initialize(app.id, { sourceId: source.id });
  return app.id;
}

/** Without what depends on timing: drafts, and states that ended before they were read. */
function word(item: FollowItem): string[] {
  if (item.kind === 'message') return [`${item.message.role}: ${item.message.content.split('\n')[0]}`];
  if (item.kind === 'tool') return item.tool.status === 'completed' ? ['tool completed'] : [];
  if (item.kind === 'approval') return [`approval ${item.approval.status}`];
  if (item.kind === 'run') return item.run.finishedAt ? [`run ${item.run.status}`] : [];
  return item.kind === 'thread' && item.thread.status === 'ready' ? ['ready'] : [];
}

test('a thread is followed over a run with an approval to its end, and shown the same afterwards', async () => {
  const appId = await newApp('Followed');
  await headrace.settings.update(appId, { approvals: [{ tool: 'sh', pattern: 'rm *', decision: 'ask' }] });
  const content = `Work\n\n${sh('echo one > one.txt')}\n\n${sh('rm a.txt')}`;
  const { thread } = await headrace.threads.create(appId, { message: { content } });
  const live: string[] = [];
  const drafts = new Set<string>();
  for await (const item of headrace.threads.follow(appId, thread.id)) {
    live.push(...word(item));
    if (item.kind === 'draft') drafts.add(item.draft.messageId);
    if (item.kind === 'draft.removed') drafts.delete(item.messageId);
    if (item.kind === 'message') drafts.delete(item.message.id);
    if (item.kind === 'approval' && item.approval.status === 'pending')
      await headrace.approvals.answer(appId, thread.id, item.approval.id, { decision: 'approve' });
  }
  const reply = (await headrace.messages.list(appId, thread.id)).items[1]!.content.split('\n')[0];
  const end = ['tool completed', `assistant: ${reply}`, 'run completed', 'ready'];
  expect(live).toEqual(['user: Work', 'tool completed', 'approval pending', 'approval approved', ...end]);
  expect([...drafts]).toEqual([]);

  const afterwards: string[] = [];
  for await (const item of headrace.app(appId).thread(thread.id).follow()) afterwards.push(...word(item));
  expect(afterwards.filter((one) => one !== 'approval approved')).toEqual([
    'user: Work',
    'tool completed',
    ...end,
  ]);
});

test('a Direct thread is followed as one of an app', async () => {
  const project = await headrace.projects.create({ name: 'Direct' });
  const { source } = await headrace.project(project.id).sources.import(FILES);
  await headrace.project(project.id).head.initialize({ sourceId: source.id });
  const { thread } = (
    await s.call('POST', '/api/threads', { projectId: project.id, message: { content: `Go\n\n${sh('ls')}` } })
  ).body;
  const live: string[] = [];
  for await (const item of headrace.thread(thread.id as string).follow()) live.push(...word(item));
  expect(live).toEqual([
    'user: Go',
    'tool completed',
    expect.stringMatching('assistant: '),
    'run completed',
    'ready',
  ]);
});

test('a view loads again when its key reads another app, and then has the events of both', async () => {
  const [first, second] = [await newApp('First'), await newApp('Second')];
  const owner = await signedIn(s);
  const made = (
    await s.call(
      'POST',
      '/api/service-accounts',
      { name: 'view', permissions: { thread: ['read'], project: ['read'] }, projectIds: [first] },
      { cookie: owner },
    )
  ).body;
  const stop = new AbortController();
  const loads: string[] = [];
  const names: string[] = [];
  const view = createClient({ baseUrl: s.base, key: made.key as string }).events.view(
    { types: ['platform.app.updated'] },
    {
      signal: stop.signal,
      async load(_, reason) {
        loads.push(reason);
        if (reason === 'start')
          await s.call(
            'PATCH',
            `/api/service-accounts/${made.account.id as string}`,
            { projectIds: [first, second] },
            { cookie: owner },
          );
        else for (const appId of [first, second]) await headrace.apps.update(appId, { name: `New ${appId}` });
      },
      apply({ appId }) {
        if (names.push(appId) === 2) stop.abort();
      },
    },
  );
  await expect(view).rejects.toThrow('aborted');
  expect(loads).toEqual(['start', 'cursor_scope_changed']);
  expect(names).toEqual([first, second]);
});

test('a view with an expired cursor loads again and continues', async () => {
  const own = await startTestServer({ HEADRACE_EVENT_RETENTION_SECONDS: '2', HEADRACE_ROLES: 'api' });
  try {
    const client = createClient({ baseUrl: own.base, key: own.key });
    const cursor = await client.events.head({});
    await expect
      .poll(
        () =>
          client.events.list({}, { cursor }).then(
            () => 'read',
            (e: { code: string }) => e.code,
          ),
        { timeout: 10_000 },
      )
      .toBe('cursor_expired');
    const stop = new AbortController();
    const steps: string[] = [];
    const view = client.events.view(
      {},
      {
        cursor,
        signal: stop.signal,
        async load(_, reason) {
          steps.push(reason);
          await client.apps.create({ name: 'Seen' });
        },
        apply({ type }) {
          steps.push(type);
          stop.abort();
        },
      },
    );
    await expect(view).rejects.toThrow('aborted');
    // The next cursor may expire too, on a slow machine.
    expect([...new Set(steps)]).toEqual(['cursor_expired', 'platform.app.created']);
  } finally {
    await own.close();
  }
});
