/**
 * A real service with what a console has to show, made over the API with the bootstrap key: one function for each
 * piece, so that a test makes only what it needs.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from '@headrace/client';
import type { Apply, ApplyPreview, Build, Client, Preview, Setup, Thread } from '@headrace/client';
import { directForm } from '../../packages/console/src/api/direct-form.ts';
import { startService } from '../harness/service.ts';
import type { Service, StartOptions } from '../harness/service.ts';
import { areasGround } from './areas/index.ts';
import { BASE_FILES, DRAFT_CHANGES, HEAD_CHANGES } from './conflicts.ts';
import { signedIn } from './page.ts';
import type { State } from './page.ts';
import { putShared } from './put-shared.ts';

export interface Site {
  client: Client;
  base: string;
  /** The owner's session. */
  state: State;
}

export interface Ground extends Site {
  service: Service;
  stop(): Promise<void>;
}

/** Of a site, what another process needs. */
export type Shared = Omit<Site, 'client'> & { key: string };

export interface App {
  id: string;
  /** The head at its creation. */
  sourceId: string;
}

/** Receivers of webhooks and GitHub's stand-in are on this machine. */
const OWN_MACHINE = { HEADRACE_WEBHOOK_ALLOW_PRIVATE: '1', HEADRACE_SCM_ALLOW_PRIVATE: '1' };

export async function startGround(options: StartOptions = {}): Promise<Ground> {
  const scratch = mkdtempSync(join(tmpdir(), 'headrace-console-'));
  const service = await startService(scratch, { ...options, env: { ...OWN_MACHINE, ...options.env } });
  const stop = async () => {
    await service.stop();
    rmSync(scratch, { recursive: true, force: true });
  };
  try {
    const client = createClient({ baseUrl: service.base, key: service.key });
    return { service, client, base: service.base, state: await signedIn(service.base), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Its paths serve Direct projects, too, as those of the console do. */
export const directClient = ({ base, service }: Pick<Ground, 'base' | 'service'>): Client =>
  createClient({
    baseUrl: base,
    key: service.key,
    fetch: (input, init) => {
      const address = new URL(input instanceof Request ? input.url : input);
      address.pathname = directForm(address.pathname);
      return fetch(address, init);
    },
  });

export const sh = (command: string) => `\`\`\`sh\n${command}\n\`\`\``;

export const FILES = [
  { path: 'README.md', content: '# Checkout\n\nA page that takes payments.\n' },
  { path: 'index.html', content: '<!doctype html>\n<title>Checkout</title>\n<h1>Checkout</h1>\n' },
  {
    path: 'src/cart.ts',
    content: 'export const total = (prices: number[]) => prices.reduce((a, b) => a + b, 0);\n',
  },
  {
    path: 'src/pay.ts',
    content: 'export function pay(amount: number) {\n  return { amount, paid: true };\n}\n',
  },
  { path: 'src/style.css', content: 'body {\n  font: 16px/1.5 serif;\n}\n' },
];

export async function makeApp(client: Client, name = 'Checkout', files = FILES): Promise<App> {
  const app = await client.apps.create({ name });
  const { source } = await client.sources.import(app.id, { files, message: 'The first version' });
  await client.head.initialize(app.id, { sourceId: source.id });
  return { id: app.id, sourceId: source.id };
}

/** A thread whose run has changed three files. */
export async function completedThread(client: Client, app: App): Promise<Thread> {
  return withMessage(client, app, {
    title: 'Show the total above the button',
    content: [
      'Show the total above the button, and round it to cents.',
      sh("sed -i 's/a + b, 0)/a + b, 0).toFixed(2)/' src/cart.ts\necho 'Totals are rounded.' >> README.md"),
      '```file src/total.ts\nimport { total } from "./cart.ts";\nexport const shown = `Total: ${total([1, 2])}`;\n```',
    ].join('\n\n'),
    until: (thread) => thread.status === 'ready',
  });
}

/** Its run waits on a command until it is stopped. */
export const runningThread = (client: Client, app: App): Promise<Thread> =>
  withMessage(client, app, {
    title: 'Measure the loading time',
    content: `Measure the loading time of the page.\n\n${sh('echo measuring; sleep 3000')}`,
    until: (thread) => thread.status === 'running',
  });

/** Its run asks whether it may run a command. Changes the app's approvals. */
export async function waitingThread(client: Client, app: App): Promise<Thread> {
  await client.settings.update(app.id, {
    approvals: [{ tool: 'sh', pattern: 'npm publish*', decision: 'ask' }],
  });
  return withMessage(client, app, {
    title: 'Publish the package',
    content: `Publish the package to the registry.\n\n${sh('npm publish --access public')}`,
    until: (thread) => thread.status === 'waiting',
  });
}

export const failedThread = (client: Client, app: App): Promise<Thread> =>
  withMessage(client, app, {
    title: 'Move to the new payment API',
    content: `Move to the new payment API.\n\n${sh("echo 'cannot reach the payment API' >&2\nexit 3")}`,
    until: (thread) => thread.status === 'failed',
  });

/** Its run waits for a place. Lowers the app's concurrency to the run that another thread has. */
export async function queuedThread(client: Client, app: App): Promise<Thread> {
  await client.settings.update(app.id, { concurrency: { runs: 1, builds: null } });
  return withMessage(client, app, {
    title: 'Translate into French',
    content: 'Translate all texts into French.',
    until: (thread) => thread.status === 'queued' && thread.waitingOn.includes('capacity'),
  });
}

export async function archivedThread(client: Client, app: App): Promise<Thread> {
  const { thread } = await client.threads.create(app.id, { title: 'An old idea' });
  await untilThread(client, app, thread.id, ({ initializationState }) => initializationState === 'completed');
  return client.threads.update(app.id, thread.id, { archived: true });
}

/** Moves the head by a draft that is applied clean. Returns the new head. */
export async function moveHead(
  client: Client,
  app: App,
  changes: Parameters<Client['edits']['create']>[2]['changes'],
): Promise<string> {
  const { sourceId } = await client.head.get(app.id);
  const { thread } = await client.threads.create(app.id, { title: 'A small change', sourceId });
  const edited = await edit(client, app, thread.id, { expectedSourceId: sourceId, changes });
  const apply = await client.applies.create(app.id, thread.id, { expectedSourceId: edited }).done();
  if (apply.status !== 'applied') throw new Error(`The head was not moved: ${apply.status} ${apply.error}`);
  return apply.resultSourceId!;
}

/** Several heads, so that the history has something to show. */
export async function moreHeads(client: Client, app: App, count = 3): Promise<void> {
  for (let i = 1; i <= count; i++)
    await moveHead(client, app, [{ path: `docs/note-${i}.md`, content: `Note ${i}\n` }]);
}

export interface Conflict {
  app: App;
  thread: Thread;
  apply: Apply;
  /** What a preview of the same apply shows. */
  preview: ApplyPreview;
}

type Changes = Parameters<Client['edits']['create']>[2]['changes'];

export interface Diverged {
  app: App;
  threadId: string;
  /** The draft. */
  sourceId: string;
}

/** An app whose head has moved since a thread's draft began. */
export async function diverged(
  client: Client,
  name: string,
  { base, draft, head }: { base: typeof FILES; draft: Changes; head: Changes },
): Promise<Diverged> {
  const app = await makeApp(client, name, base);
  const { thread } = await client.threads.create(app.id, { title: 'Rework the shop' });
  const sourceId = await edit(client, app, thread.id, { expectedSourceId: app.sourceId, changes: draft });
  await moveHead(client, app, head);
  return { app, threadId: thread.id, sourceId };
}

/** An app with an apply that has each of the seven kinds of conflict. */
export async function conflictedApply(client: Client): Promise<Conflict> {
  const sides = { base: BASE_FILES, draft: DRAFT_CHANGES, head: HEAD_CHANGES };
  const { app, threadId, sourceId } = await diverged(client, 'Seven conflicts', sides);
  const apply = await client.applies.create(app.id, threadId, { expectedSourceId: sourceId }).done();
  if (apply.status !== 'conflicted') throw new Error(`The apply is not conflicted: ${apply.status}`);
  const preview = await client.applies.preview(app.id, threadId, { expectedSourceId: sourceId });
  return { app, thread: await client.threads.get(app.id, threadId), apply, preview };
}

const BUILD = { outputDirectory: 'dist', timeoutSeconds: 600 };

/** One build that is ready, one that failed, and, of a thread of its own, one that builds until it is cancelled. */
export async function builds(
  client: Client,
  app: App,
): Promise<{ ready: Build; failed: Build; building: Build }> {
  const thread = await newThread(client, app, 'Build the page');
  const start = (threadId: string, command: string) =>
    client.builds.create(app.id, threadId, { ...BUILD, command });
  const ready = await start(
    thread.id,
    "mkdir -p dist/assets && cp index.html dist/ && cp src/style.css dist/assets/ && printf '\\033[32mbuilt\\033[0m in 0.1 s\\n'",
  ).done();
  const failed = await start(thread.id, "echo 'src/pay.ts(2,3): error TS2322' >&2; exit 2").done();
  const other = await newThread(client, app, 'Build the slow page');
  const { id } = await start(other.id, 'for i in $(seq 1 3000); do echo "step $i"; sleep 1; done');
  return { ready, failed, building: await untilBuilding(client, app, id) };
}

export async function preview(client: Client, app: App): Promise<Preview> {
  const thread = await newThread(client, app, 'Look at the page');
  const server =
    "require('http').createServer((q,r)=>r.end('<!doctype html><title>Checkout</title><h1>Checkout</h1>')).listen(3000)";
  return client.previews.create(app.id, thread.id, { command: `node -e "${server}"`, port: 3000 }).done();
}

export interface Setups {
  app: App;
  ready: Setup;
  failed: Setup;
  running: Setup;
  /** Goes on without the layer of the failed one. */
  thread: Thread;
  /** Waits for the one that runs. */
  waiting: Thread;
}

/** An app of its own with a setup that is ready, one that failed and one that runs. */
export async function setups(client: Client): Promise<Setups> {
  const app = await makeApp(client, 'Prepared');
  const set = (command: string) =>
    client.settings.update(app.id, { setup: { command, paths: ['README.md'], timeoutSeconds: 600 } });
  await set("mkdir -p node_modules/greet && echo hello > node_modules/greet/text && echo 'added 1 package'");
  const ready = await client.setups.create(app.id).done();
  await set("echo 'npm error 404 no such package: gret' >&2; exit 1");
  const failed = await client.setups.create(app.id).done();
  const prepare = (title: string, isDone: (thread: Thread) => boolean) =>
    client.threads
      .create(app.id, { title })
      .then(({ thread }) => untilThread(client, app, thread.id, isDone));
  const thread = await prepare('Greet the reader', (now) => now.workspaceSetupStatus === 'failed');
  await set('for i in $(seq 1 590); do echo "fetching package $i"; sleep 1; done');
  const { id } = await client.setups.create(app.id);
  const waiting = await prepare('Greet in French', (now) => now.setupId === id);
  return { app, ready, failed, running: await client.setups.get(app.id, id), thread, waiting };
}

/** A fork that has gone on. */
export async function forkOf(client: Client, app: App, threadId: string): Promise<Thread> {
  const { thread } = await client.threads.fork(app.id, threadId, {
    title: 'The total in euros',
    message: { content: sh("sed -i 's/total/sum/' src/total.ts; echo The total is in euros.") },
  });
  return untilThread(client, app, thread.id, (now) => now.latestRunId !== null && now.status === 'ready');
}

/** The text of a `SKILL.md`. */
export const skillText = (name: string, description: string, body = 'Write one line for each change.') =>
  `---\nname: ${name}\ndescription: ${JSON.stringify(description)}\n---\n\n${body}\n`;

/** Skills of the organization, one of which the app hides, and of the app. */
export async function skills(site: Site, app: App): Promise<void> {
  const filesOf = (name: string, description: string) => [
    { path: 'SKILL.md', content: skillText(name, description) },
    { path: 'scripts/header.sh', content: '#!/bin/sh\necho "## $1"\n', executable: true },
  ];
  for (const [name, description] of [
    ['brand-voice', 'Which words the shop uses. Read it before you write a text that customers see.'],
    ['release-notes', 'How to write release notes in every app.'],
  ] as const)
    await putShared(site, `/api/skills/${name}`, { files: filesOf(name, description) });
  for (const [name, description] of [
    [
      'checkout-tests',
      'How to test the checkout: cards that are declined, baskets that are empty, prices that change.',
    ],
    ['release-notes', 'How to write release notes. Use it for every change of CHANGELOG.md.'],
  ] as const)
    await site.client.skills.set(app.id, name, { files: filesOf(name, description) });
}

/** Variables of the organization, one of which the app hides, and of the app. */
export async function variables(site: Site, app: App): Promise<void> {
  const { client } = site;
  await putShared(site, '/api/environment/API_URL', { value: 'https://api.example.test' });
  await putShared(site, '/api/environment/REGISTRY_TOKEN', {
    value: 'a shared secret of eleven',
    secret: true,
  });
  const set = (name: string, body: Parameters<Client['environment']['set']>[2]) =>
    client.environment.set(app.id, name, body);
  await set('API_URL', { value: 'https://checkout.example.test/v2?region=eu-central&trace=off' });
  await set('API_TOKEN', { value: 'correct horse battery staple', secret: true, targets: ['exec', 'build'] });
  await set('EMPTY', { value: '' });
}

export interface WholeGround extends Ground {
  app: App;
  threads: Record<'completed' | 'running' | 'waiting' | 'failed' | 'queued' | 'archived', Thread>;
  conflict: Conflict;
  builds: Awaited<ReturnType<typeof builds>>;
  preview: Preview;
  setups: Setups;
  /** Of the completed thread, with a message of its own. */
  fork: Thread;
  areas: Awaited<ReturnType<typeof areasGround>>;
}

/** Everything at once. */
export async function startWholeGround(options: StartOptions = {}): Promise<WholeGround> {
  const ground = await startGround(options);
  const { client } = ground;
  try {
    const app = await makeApp(client);
    const conflict = conflictedApply(client);
    const prepared = setups(client);
    const areas = areasGround(ground);
    await Promise.all([moreHeads(client, app), variables(ground, app), skills(ground, app)]);
    const [completed, failed, archived, made, shown] = await Promise.all([
      completedThread(client, app),
      failedThread(client, app),
      archivedThread(client, app),
      builds(client, app),
      preview(client, app),
    ]);
    const fork = await forkOf(client, app, completed.id);
    // Then those that change what the app allows.
    const waiting = await waitingThread(client, app);
    const running = await runningThread(client, app);
    const queued = await queuedThread(client, app);
    const threads = { completed, running, waiting, failed, queued, archived };
    return {
      ...ground,
      app,
      threads,
      conflict: await conflict,
      builds: made,
      preview: shown,
      fork,
      setups: await prepared,
      areas: await areas,
    };
  } catch (error) {
    await ground.stop();
    throw error;
  }
}

async function newThread(client: Client, app: App, title: string): Promise<Thread> {
  const { thread } = await client.threads.create(app.id, { title });
  return untilThread(client, app, thread.id, ({ status }) => status === 'ready');
}

async function edit(
  client: Client,
  app: App,
  threadId: string,
  body: Parameters<Client['edits']['create']>[2],
): Promise<string> {
  await untilThread(client, app, threadId, ({ status }) => status === 'ready');
  return (await client.edits.create(app.id, threadId, body)).id;
}

interface Sent {
  title: string;
  content: string;
  until: (thread: Thread) => boolean;
}

async function withMessage(client: Client, app: App, { title, content, until }: Sent): Promise<Thread> {
  const { thread } = await client.threads.create(app.id, { title, message: { content } });
  return untilThread(client, app, thread.id, (now) => now.latestRunId !== null && until(now));
}

const LIMIT_MS = 30_000;
const POLL_MS = 40;

/** Reads the thread until it is as wanted. */
export async function untilThread(
  client: Client,
  app: App,
  threadId: string,
  isDone: (thread: Thread) => boolean,
): Promise<Thread> {
  let thread = await client.threads.get(app.id, threadId);
  for (const deadline = Date.now() + LIMIT_MS; Date.now() < deadline;) {
    if (isDone(thread)) return thread;
    await sleep(POLL_MS);
    thread = await client.threads.get(app.id, threadId);
  }
  throw new Error(`The thread is ${thread.status}: ${JSON.stringify(thread)}`);
}

async function untilBuilding(client: Client, app: App, buildId: string): Promise<Build> {
  for (const deadline = Date.now() + LIMIT_MS; Date.now() < deadline;) {
    const build = await client.builds.get(app.id, buildId);
    if (build.status === 'building') return build;
    await sleep(POLL_MS);
  }
  throw new Error('The build does not begin.');
}
