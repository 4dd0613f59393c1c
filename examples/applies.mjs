/**
 * Applies, from the first draft to a repaired conflict. Nothing but fetch; Node 20 or newer.
 *
 *     npm start                                     # in one terminal; prints the address and, at the first start, the key
 *     HEADRACE_KEY=hrk_… node examples/applies.mjs  # in another; HEADRACE_URL where it is not http://127.0.0.1:4400
 *
 * Makes an app and prints what happens to it:
 *
 *     1. two drafts change one line; the first is applied
 *     2. a preview of the second shows the conflict, line by line; in manual mode its apply ends `conflicted`
 *     3. a decision on it is refused, because a third draft moved the head meanwhile; decided anew it is applied
 *     4. in agent mode a repair run resolves the next conflict: refused at first, then applied
 *     5. the history tells which draft of whom made each head
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';

const BASE = process.env.HEADRACE_URL ?? 'http://127.0.0.1:4400';
const KEY = process.env.HEADRACE_KEY;
const API = '/api/platform/v1';

/** Of one call, its answer included; a long poll takes 30 s by itself. */
const CALL_MS = 45_000;
const TRIES = 6;
/** Repairs have 15 minutes in all, and the applies before it their turn. */
const APPLY_MS = 20 * 60_000;
const ROUNDS = 5;

class ApiError extends Error {
  constructor(status, { code, message, fields = [] }, retryAfter) {
    super([message, ...fields.map((field) => `${field.path}: ${field.message}`)].join('\n'));
    Object.assign(this, { status, code, retryAfter });
  }
}

async function call(method, path, body, key) {
  const response = await fetch(BASE + API + path, {
    method, body: body && JSON.stringify(body), signal: AbortSignal.timeout(CALL_MS), headers: { 'X-Api-Key': KEY, ...(body && { 'Content-Type': 'application/json' }), ...(key && { 'Idempotency-Key': key }) },
  });
  const answer = await response.json().catch(() => ({}));
  if (!response.ok) throw new ApiError(response.status, answer.error ?? { code: 'unknown', message: response.statusText }, Number(response.headers.get('retry-after')));
  return answer;
}
const read = (path) => call('GET', path);

/** Nobody knows whether it was done: no answer, too many requests, a part that is away, or the same call still at work. */
const isUncertain = (error) => !(error instanceof ApiError) || error.status === 429 || error.status >= 500 || error.code === 'request_in_progress';

/** A write that may be sent again and again: the key and the body stay the same, so it is done once. */
async function write(method, path, body, key = randomUUID()) {
  for (let tries = 1; ; tries++) {
    try {
      return await call(method, path, body, key);
    } catch (error) {
      if (!isUncertain(error) || tries === TRIES) throw error;
      await pause(error.retryAfter ? error.retryAfter * 1_000 : 200 * 2 ** tries * (0.5 + Math.random()));
    }
  }
}

/** Queues a draft and waits for the end of its apply, whatever that is. */
async function applyDraft({ app, thread, source }, decision = {}) {
  const operation = randomUUID();
  const { apply } = await write('POST', `/apps/${app}/threads/${thread}/apply`, { expectedSourceId: source, clientOperationId: operation, ...decision }, operation);
  for (const until = Date.now() + APPLY_MS; Date.now() < until;) {
    const now = (await read(`/apps/${app}/applies/${apply.id}?waitSeconds=30`)).apply;
    if (now.status !== 'queued') return now;
  }
  throw new Error('The apply is queued still.');
}

const previewOf = async ({ app, thread, source }, decision = {}) => (await call('POST', `/apps/${app}/threads/${thread}/apply/preview`, { expectedSourceId: source, ...decision })).preview;

/** Has somebody decide on each conflict, and again as often as the head has moved before the decision arrived. */
async function resolve(draft, choose) {
  for (let round = 1; round <= ROUNDS; round++) {
    const { headSourceId, conflicts } = await previewOf(draft);
    const resolutions = await Promise.all(conflicts.map(async (conflict) => ({ path: conflict.path, take: await choose(conflict) })));
    try {
      const apply = await applyDraft(draft, { conflictResolution: 'manual', expectedHeadSourceId: headSourceId, resolutions });
      if (!apply.error?.startsWith('stale_head:')) return apply;
    } catch (error) {
      if (error.code !== 'stale_head') throw error;
    }
    console.log('  stale_head: the head has moved, so this decision is void; look again');
  }
  throw new Error('The head moves faster than anybody decides.');
}

function showConflict({ path, kind, hunks = [] }) {
  console.log(`  ${path}: ${kind}`);
  for (const { baseStart, base, head, draft } of hunks) {
    console.log(`    line ${baseStart}`);
    for (const [side, lines] of Object.entries({ base, head, draft })) for (const line of lines) console.log(`      ${side.padEnd(5)} | ${line}`);
  }
}

const showApply = (name, { status, conflicts, error, repairs }) => {
  for (const { report, error: refusal } of repairs) console.log(`  a repair: ${refusal ?? `${report.status}: ${report.summary}`}`);
  console.log(`  ${[name, status, ...conflicts, error].filter(Boolean).join(' ')}`);
};

async function newApp(files) {
  const app = (await write('POST', '/apps', { name: 'Café' })).app.id;
  const { source } = await write('POST', `/apps/${app}/sources`, { files: Object.entries(files).map(([path, content]) => ({ path, content })) });
  await write('POST', `/apps/${app}/source-head/initialize`, { sourceId: source.id });
  return app;
}

/** A draft is what a thread has made of the head that it started from. Here nobody but this program works in it. */
async function newDraft(app, title, files) {
  const { thread } = await write('POST', `/apps/${app}/threads`, { title });
  const changes = Object.entries(files).map(([path, content]) => ({ path, content }));
  const { source } = await write('POST', `/apps/${app}/threads/${thread.id}/edits`, { expectedSourceId: thread.latestSourceId, changes });
  return { app, thread: thread.id, source: source.id };
}

const fileAt = async (app, path) => (await read(`/apps/${app}/sources/${(await read(`/apps/${app}/source-head`)).head.sourceId}/file?path=${encodeURIComponent(path)}`)).file.content;
const prices = (coffee) => `tea 2.00\ncoffee ${coffee}\n`;

/** What the agent `scripted` does at each repair: both lists, sorted. It tells of the change beside the conflict only when it was refused for that. */
const REPAIR = `\`\`\`sh
cd .hoplite/repair
sort -u head/toppings.txt draft/toppings.txt > ../../toppings.txt
echo 'Toppings of two drafts.' >> ../../CHANGELOG.md
summary='Kept the toppings of both sides.'
if grep -q undeclared_changes failures.json; then summary="$summary CHANGELOG.md tells of it."; fi
printf '{"status": "resolved", "summary": "%s", "checks": ["no topping is lost"]}' "$summary" > report.json
\`\`\``;

async function main() {
  const app = await newApp({ 'prices.txt': prices('3.00'), 'toppings.txt': 'cocoa\n', 'CHANGELOG.md': 'Opened.\n' });
  console.log(`app ${app}`);

  console.log('two drafts change the price of coffee');
  const [dearer, dearest] = [await newDraft(app, 'Dearer', { 'prices.txt': prices('3.20') }), await newDraft(app, 'Dearest', { 'prices.txt': prices('3.50'), 'menu.txt': 'Coffee, tea.\n' })];
  showApply('Dearer', await applyDraft(dearer));

  console.log('what would become of the other one');
  const preview = await previewOf(dearest);
  console.log(`  ${preview.status}; changes ${preview.changes.map((file) => file.path).join(', ')}`);
  preview.conflicts.forEach(showConflict);
  showApply('Dearest', await applyDraft(dearest, { conflictResolution: 'manual' }));

  console.log('somebody takes their time to decide, and another draft is applied meanwhile');
  const hours = await newDraft(app, 'Hours', { 'hours.txt': '8 to 18\n' });
  let isFirst = true;
  showApply('Dearest', await resolve(dearest, async () => {
    if (isFirst) showApply('Hours', await applyDraft(hours));
    isFirst = false;
    return 'draft';
  }));
  console.log(`  the head has ${JSON.stringify(await fileAt(app, 'prices.txt'))}`);

  console.log('two drafts add a topping; an agent puts them together');
  await write('PATCH', `/apps/${app}`, { metadata: { 'headrace.repairScript': REPAIR } });
  const [milk, cinnamon] = [await newDraft(app, 'Milk', { 'toppings.txt': 'cocoa\noat milk\n' }), await newDraft(app, 'Cinnamon', { 'toppings.txt': 'cocoa\ncinnamon\n' })];
  showApply('Milk', await applyDraft(milk));
  showApply('Cinnamon', await applyDraft(cinnamon));
  console.log(`  the head has ${JSON.stringify(await fileAt(app, 'toppings.txt'))}`);

  console.log('whose work is in the head');
  for (const { revision, applyId } of (await read(`/apps/${app}/source-head/history`)).heads) {
    if (applyId === null) { console.log(`  ${revision} the first source`); continue; }
    const { apply } = await read(`/apps/${app}/applies/${applyId}`);
    const { thread } = await read(`/apps/${app}/threads/${apply.threadId}`);
    console.log(`  ${revision} ${thread.title}, by ${apply.createdByUserId}`);
  }
}

if (!KEY) {
  console.error('Set HEADRACE_KEY to a service key that has project:create, project:read, project:update and thread:create, thread:read, thread:update.');
  process.exit(2);
}
await main();
