/**
 * The setup that a source's sandbox needs. The newest record of its key that has a layer here decides; else
 *
 *   one is under way                         it is waited for
 *   the newest failed within 600 s           the sandbox goes on without a layer
 *   this runner lost its layers repeatedly   likewise, within 600 s of the last: it has no room for them
 *   else                                     a new one is made, and waited for
 */
import { RunnerError } from '@headrace/runner/client';
import type { Context } from '../context.ts';
import type { Db } from '../db/database.ts';
import type { SetupRow } from '../db/schema.ts';
import { transaction } from '../db/transaction.ts';
import type { Tx } from '../db/transaction.ts';
import { newId } from '../ids.ts';
import { enqueue } from '../jobs/enqueue.ts';
import type { Job } from '../jobs/job.ts';
import { keepProject } from '../projects/index.ts';
import { effectiveSettings } from '../settings/index.ts';
import { loadTree } from '../sources/index.ts';
import { keyOf, namedFiles } from './key.ts';
import { isEnded } from './state.ts';
import { findCurrent, findOfKey, insertSetup, keepUnderWay, loseLayer } from './store.ts';
import type { OfKey } from './store.ts';

const NOT_REPEATED_SECONDS = 600;
/** So many layers of a key, made one after the other and each lost within NOT_REPEATED_SECONDS, are no accident. */
const MOST_LOST = 5;
/** Records of a key that are looked at. */
const LOOKED_AT = 50;
/** A waiting job is made due by the end of its setup; this is for an end that was missed. */
const PUT_OFF_SECONDS = 120;
/** A setup may end between the look and the wait. */
const LOOKS = 5;

/** What a source's sandbox has below its files. */
export type SetupFound =
  | { kind: 'none' }
  /** The setup's id is the key of its layer. */
  | { kind: 'ready'; setupId: string }
  | { kind: 'failed'; setupId: string }
  /** It succeeds, but the runner does not keep its layers. */
  | { kind: 'lost'; setupId: string };

/** A source of a project. */
export interface SourceOf {
  org_id: string;
  project_id: string;
  source_id: string | null;
}

/** What the settings want for a source. */
interface Wanted {
  key: string;
  command: string;
  paths: string[];
  timeoutSeconds: number;
  runtime: string | null;
}

/** Null where the setting is not set. */
export async function wantedSetup(
  db: Db | Tx['db'],
  { project_id: projectId, source_id: sourceId }: SourceOf,
): Promise<Wanted | null> {
  if (sourceId === null) return null;
  const { setup, runtime } = await effectiveSettings(db, { project_id: projectId });
  if (!setup) return null;
  const files = namedFiles(await loadTree({ db }, sourceId), setup.paths);
  return { ...setup, runtime, key: await keyOf(setup.command, runtime, files) };
}

/**
 * Finds the setup that a source needs. Where it is under way, the job is put off until its end, in a transaction
 * that `onWait` adds to, and the answer is `waits`: the handler returns. Where `onWait` returns false nobody waits
 * any more: nothing is put off.
 */
export async function setupOrWait(
  ctx: Context,
  job: Pick<Job, 'fence' | 'putOff'>,
  of: SourceOf,
  onWait: (tx: Tx, setupId: string) => Promise<boolean>,
): Promise<SetupFound | 'waits'> {
  for (let looks = 0; looks < LOOKS; looks++) {
    const found = await needSetup(ctx, of);
    if (found.kind === 'ready' && !(await isKept(ctx, of.project_id, found.setupId))) {
      await loseLayer(ctx.db, found.setupId);
      continue;
    }
    if (found.kind !== 'under way') return found;
    const waits = await transaction(ctx, async (tx) => {
      await job.fence(tx);
      if (!(await onWait(tx, found.setupId))) return true;
      if (!(await keepUnderWay(tx, found.setupId))) return false;
      await job.putOff(tx, found.setupId, PUT_OFF_SECONDS);
      return true;
    });
    if (waits) return 'waits';
  }
  throw new Error('setups of one key end faster than they are waited for');
}

/** Layers are a cache: the runner drops those that were not used for long where it needs their room. */
const isKept = async (ctx: Context, projectId: string, setupId: string): Promise<boolean> =>
  (await ctx.runner.keptLayers(projectId)).includes(setupId);

/** Whether the runner refuses to make a tree because it has the layer no more. */
export const isLayerGone = (error: unknown): boolean =>
  error instanceof RunnerError && error.code === 'no_layer';

async function needSetup(
  ctx: Context,
  of: SourceOf,
): Promise<SetupFound | { kind: 'under way'; setupId: string }> {
  const wanted = await wantedSetup(ctx.db, of);
  if (!wanted) return { kind: 'none' };
  const records = await findOfKey(
    ctx.db,
    { projectId: of.project_id, key: wanted.key, seconds: NOT_REPEATED_SECONDS },
    LOOKED_AT,
  );
  const found = decide(records, ctx.runnerStatus()?.id);
  if (found) return found;
  const setup = await transaction(ctx, async (tx) => {
    const project = await keepProject(tx, of.project_id);
    // A layer is of use where it is made: the setup is to run where its source's sandbox is to be.
    return project && queueSetup(tx, of, wanted, ctx.at?.id);
  });
  // Its project was deleted: so is who asks.
  return setup ? { kind: 'under way', setupId: setup.id } : { kind: 'none' };
}

/** Null where a new one is to be made. `host`: the runner here. */
export function decide(
  records: readonly OfKey[],
  host: string | undefined,
): Awaited<ReturnType<typeof needSetup>> | null {
  const here = records.filter((r) => r.status === 'ready' && r.runner_id?.split(':')[0] === host);
  const ready = here.find((r) => r.layer_gone_at === null);
  if (ready) return { kind: 'ready', setupId: ready.id };
  // The clocks that ids are made by differ: it need not be the newest.
  const underWay = records.find((r) => !isEnded(r));
  if (underWay) return { kind: 'under way', setupId: underWay.id };
  const [newest] = records;
  if (newest?.status === 'failed' && newest.is_recent) return { kind: 'failed', setupId: newest.id };
  const [lost] = here;
  const isRepeated = here.length >= MOST_LOST && here.slice(0, MOST_LOST).every((r) => r.is_short_lived);
  return lost?.is_recent && isRepeated ? { kind: 'lost', setupId: lost.id } : null;
}

/** Makes a record and its job in a project that is kept from deletion, or returns the one of its key under way. */
export async function queueSetup(
  tx: Tx,
  { org_id: orgId, project_id: projectId, source_id: sourceId }: SourceOf,
  wanted: Wanted,
  nearRunner: string | null = null,
): Promise<SetupRow> {
  const setup = await insertSetup(tx, {
    org_id: orgId,
    id: newId('set'),
    project_id: projectId,
    key: wanted.key,
    command: wanted.command,
    paths: wanted.paths,
    timeout_seconds: wanted.timeoutSeconds,
    runtime: wanted.runtime,
    source_id: sourceId!,
    runner_id: nearRunner,
  });
  if (!setup) return (await findCurrent(tx.db, projectId, wanted.key))!;
  await enqueue(tx, 'setup.work', { setupId: setup.id }, { key: setupKey(setup.id), turnOf: setup });
  return setup;
}

/** One job at a time works on a setup. */
export const setupKey = (setupId: string) => `setup:${setupId}`;
