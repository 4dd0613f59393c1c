/**
 * Applies, from the first draft to a repaired conflict, with `@headrace/client`.
 *
 *     npm start                                                      # in one terminal; prints the address and, at the first start, the key
 *     HEADRACE_KEY=hrk_… node_modules/.bin/node examples/applies.mjs # in another; set HEADRACE_URL if it is not http://127.0.0.1:4400
 *
 * In your own project it runs with Node 20 or newer: install the tarball that `npm run client:pack` makes.
 *
 * Makes an app and prints what happens to it:
 *
 *     1. two drafts change one line; the first is applied
 *     2. a preview of the second shows the conflict, line by line; in manual mode its apply ends `conflicted`
 *     3. a decision on it is refused, because a third draft moved the head meanwhile; decided anew it is applied
 *     4. in agent mode a repair run resolves the next conflict: refused at first, then applied
 *     5. the history tells which draft of whom made each head
 */
import { createClient, isCode } from '@headrace/client';

const { HEADRACE_URL = 'http://127.0.0.1:4400', HEADRACE_KEY } = process.env;
if (!HEADRACE_KEY) {
  console.error('Set HEADRACE_KEY to a service key that has project:create, project:read, project:update and thread:create, thread:read, thread:update.');
  process.exit(2);
}
const headrace = createClient({ baseUrl: HEADRACE_URL, key: HEADRACE_KEY });

const ROUNDS = 5;

/** Queues a draft and waits for the end of its apply, whatever that is. */
const applyDraft = ({ thread, source }, decision = {}) => thread.applies.create({ expectedSourceId: source, ...decision }).done();

const previewOf = ({ thread, source }) => thread.applies.preview({ expectedSourceId: source });

/** Has somebody decide on each conflict, and again as often as the head has moved before the decision arrived. */
async function resolve(draft, choose) {
  for (let round = 1; round <= ROUNDS; round++) {
    const { headSourceId, conflicts } = await previewOf(draft);
    const resolutions = await Promise.all(conflicts.map(async (conflict) => ({ path: conflict.path, take: await choose(conflict) })));
    try {
      const apply = await applyDraft(draft, { conflictResolution: 'manual', expectedHeadSourceId: headSourceId, resolutions });
      if (!apply.error?.startsWith('stale_head:')) return apply;
    } catch (error) {
      if (!isCode(error, 'stale_head')) throw error;
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

const filesOf = (files) => Object.entries(files).map(([path, content]) => ({ path, content }));

async function newApp(files) {
  const { id } = await headrace.apps.create({ name: 'Café' });
  const app = headrace.app(id);
  const { source } = await app.sources.import({ files: filesOf(files) });
  await app.head.initialize({ sourceId: source.id });
  console.log(`app ${id}`);
  return app;
}

/** A draft is what a thread has made of the head that it started from. Here nobody but this program works in it. */
async function newDraft(app, title, files) {
  const { thread: { id, latestSourceId } } = await app.threads.create({ title });
  const thread = app.thread(id);
  const source = await thread.edits.create({ expectedSourceId: latestSourceId, changes: filesOf(files) });
  return { thread, source: source.id };
}

async function fileAt(app, path) {
  const { sourceId } = await app.head.get();
  return (await app.sources.file(sourceId, { path })).content;
}
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
  await app.update({ metadata: { 'headrace.repairScript': REPAIR } });
  const [milk, cinnamon] = [await newDraft(app, 'Milk', { 'toppings.txt': 'cocoa\noat milk\n' }), await newDraft(app, 'Cinnamon', { 'toppings.txt': 'cocoa\ncinnamon\n' })];
  showApply('Milk', await applyDraft(milk));
  showApply('Cinnamon', await applyDraft(cinnamon));
  console.log(`  the head has ${JSON.stringify(await fileAt(app, 'toppings.txt'))}`);

  console.log('whose work is in the head');
  for await (const { revision, applyId } of app.head.history()) {
    if (applyId === null) { console.log(`  ${revision} the first source`); continue; }
    const { threadId, createdByUserId } = await app.applies.get(applyId);
    console.log(`  ${revision} ${(await app.thread(threadId).get()).title}, by ${createdByUserId}`);
  }
}

await main();
