/** Apps, and drafts in them that are ready to be applied; all of it made before anything is killed. */
import { newApp } from '../../harness/apps.ts';
import type { Caller } from '../../harness/http.ts';
import { inLanes } from '../../harness/lanes.ts';
import { EARLY, firstFiles, plansOf, REPAIR_SCRIPT } from './drafts.ts';
import type { Change, Plan } from './drafts.ts';

export interface Draft extends Plan {
  app: TortureApp;
  /** Path of its thread. */
  thread: string;
  sourceId: string;
  /** Ids of the applies that were accepted for it, in their order. */
  accepted: string[];
}

export interface TortureApp {
  /** Its path. */
  path: string;
  id: string;
  drafts: Draft[];
  /** Sources of the first revisions of its head. */
  early: string[];
}

/** Requests at a time. */
const LANES = 16;

/** `drafts` for each of `apps`. */
export async function makeApps(
  callers: readonly Caller[],
  apps: number,
  drafts: number,
): Promise<TortureApp[]> {
  const made: TortureApp[] = [];
  await inLanes(LANES, Array.from({ length: apps }), async (_, n) => {
    made[n] = await makeApp(callers[n % callers.length]!, drafts);
  });
  const plans = made.flatMap((app) => plansOf(drafts).map((plan) => ({ app, plan })));
  await inLanes(LANES, plans, async ({ app, plan }, n) => {
    const { thread, sourceId } = await edited(
      callers[n % callers.length]!,
      app.path,
      app.early[plan.base - 1]!,
      plan.changes,
    );
    app.drafts[plan.number] = { ...plan, app, thread, sourceId, accepted: [] };
  });
  return made;
}

async function makeApp(caller: Caller, drafts: number): Promise<TortureApp> {
  const path = await newApp(caller, 'Applied');
  await caller.call('PATCH', path, { metadata: { 'headrace.repairScript': REPAIR_SCRIPT } });
  const { source } = (await caller.call('POST', `${path}/sources`, { files: firstFiles(drafts) })).body;
  await caller.call('POST', `${path}/source-head/initialize`, { sourceId: source.id });
  const early = [source.id as string];
  for (const changes of EARLY) {
    const { thread, sourceId } = await edited(caller, path, early.at(-1)!, changes);
    const { apply } = (
      await caller.call(
        'POST',
        `${thread}/apply`,
        { expectedSourceId: sourceId, clientOperationId: thread },
        { key: thread },
      )
    ).body;
    const { apply: ended } = (
      await caller.call('GET', `${path}/applies/${apply.id as string}?waitSeconds=30`)
    ).body;
    if (ended.status !== 'applied')
      throw new Error(`An early apply ended ${String(ended.status)}: ${String(ended.error)}`);
    early.push(ended.resultSourceId as string);
  }
  return { path, id: source.projectId as string, drafts: [], early };
}

async function edited(
  caller: Caller,
  app: string,
  base: string,
  changes: readonly Change[],
): Promise<{ thread: string; sourceId: string }> {
  const { thread } = (await caller.call('POST', `${app}/threads`, { sourceId: base })).body;
  const path = `${app}/threads/${thread.id as string}`;
  const { source } = (await caller.call('POST', `${path}/edits`, { expectedSourceId: base, changes })).body;
  return { thread: path, sourceId: source.id as string };
}
