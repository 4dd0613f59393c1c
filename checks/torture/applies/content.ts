/**
 * Whether every head holds what git's merges of the applied drafts give, and each conflict is one for git
 * too.
 */
import { join } from 'node:path';
import type { Caller } from '../../harness/http.ts';
import { takenBy } from './clients.ts';
import { EARLY, isRepaired, PINNED } from './drafts.ts';
import { download } from './evidence.ts';
import type { ApplyRecord } from './evidence.ts';
import { blobName, makeModel } from './model.ts';
import type { Files, Model } from './model.ts';
import { draftOf, isStale } from './records.ts';
import type { AppRecords } from './records.ts';
import type { Draft, TortureApp } from './world.ts';

export interface ContentVerdict {
  /** Merges that git was asked for. */
  merges: number;
  heads: number;
  failures: string[];
}

interface Judging {
  model: Model;
  app: TortureApp;
  failures: string[];
}

export async function judgeContent(
  folder: string,
  caller: Caller,
  app: TortureApp,
  { applies, heads }: AppRecords,
): Promise<ContentVerdict> {
  const judging = { model: await makeModel(join(folder, app.id), app.drafts), app, failures: [] as string[] };
  let merges = 0;
  for (const { revision, sourceId, applyId, sha256 } of heads) {
    const { contents, sha256: computed } = await download(caller, app.path, sourceId);
    if (computed !== sha256)
      judging.failures.push(`${sourceId} has the sha256 ${sha256}, and its files ${computed}`);
    const found: Files = new Map([...contents].map(([path, bytes]) => [path, blobName(bytes)]));
    if (revision <= EARLY.length + 1) {
      compare(judging, `revision ${revision}`, found, await judging.model.files(revision));
      continue;
    }
    const apply = applies.find(({ id }) => id === applyId);
    const draft = apply && draftOf(app, apply);
    if (!draft) throw new Error(`${app.path}: revision ${revision} is of no draft`);
    const repaired = draft.kind === 'repair' ? [...contents.keys()].filter(isRepaired) : [];
    compare(
      judging,
      `revision ${revision} (${apply.id}, ${draft.kind})`,
      found,
      await wanted(judging, revision - 1, draft, repaired, contents),
    );
    merges++;
    // From what there is, so that one fault is not reported for every later head.
    await judging.model.commit(
      found,
      repaired.map((path) => contents.get(path)!.toString()),
    );
  }
  for (const apply of applies.filter((a) => a.status === 'conflicted' && !isStale(a))) {
    await judgeConflict(judging, apply, heads.findLast((head) => head.sourceId === apply.head)?.revision);
    merges++;
  }
  return {
    merges,
    heads: heads.length,
    failures: judging.failures.map((failure) => `${app.path}: ${failure}`),
  };
}

/** The next head: git's merge, with what resolutions and repairs put in the place of conflicts. */
async function wanted(
  judging: Judging,
  revision: number,
  draft: Draft,
  repaired: readonly string[],
  contents: ReadonlyMap<string, Buffer>,
): Promise<Files> {
  const { model, failures } = judging;
  const { files, conflicts } = await model.merge(revision, draft.number);
  for (const path of conflicts) {
    if (draft.kind === 'pinned' && path === PINNED) {
      const taken = await model.at(
        takenBy(draft.number) === 'draft' ? { draft: draft.number } : { revision },
        path,
      );
      if (taken === undefined) files.delete(path);
      else files.set(path, taken);
    } else if (draft.kind !== 'repair' || !isRepaired(path)) {
      failures.push(
        `draft ${draft.number} (${draft.kind}) was applied on revision ${revision}, and git has a conflict in ${path}`,
      );
    }
  }
  for (const path of repaired)
    files.set(path, await unionOf(judging, revision, draft, path, contents.get(path)!));
  return files;
}

/** A repaired file has the lines of both sides, whatever the order in which repairs and merges put them. */
async function unionOf(
  { model, app, failures }: Judging,
  revision: number,
  draft: Draft,
  path: string,
  content: Buffer,
): Promise<string> {
  const lines = content.toString().split('\n').slice(0, -1);
  const added = draft.changes.find((change) => change.path === path)?.content?.split('\n')[1];
  if (new Set(lines).size !== lines.length)
    failures.push(`${path} has a line twice after draft ${draft.number}: ${lines.join(', ')}`);
  if (added !== undefined && !lines.includes(added))
    failures.push(`${path} lacks the line of draft ${draft.number}: ${lines.join(', ')}`);
  const before = await model.at({ revision }, path);
  const sorted = `${lines.filter((line) => line !== added).join('\n')}\n`;
  if (before !== blobName(Buffer.from(sorted)))
    failures.push(
      `${path} of ${app.id} lost or won other lines with draft ${draft.number} than its own: ${lines.join(', ')}`,
    );
  return blobName(content);
}

function compare({ failures }: Judging, what: string, found: Files, expected: Files): void {
  const wrong = [...new Set([...found.keys(), ...expected.keys()])].filter(
    (path) => found.get(path) !== expected.get(path),
  );
  if (wrong.length > 0)
    failures.push(
      `${what} is not what git merges: ${wrong
        .slice(0, 10)
        .map(
          (path) =>
            `${path} ${found.has(path) ? (expected.has(path) ? 'differs' : 'is too much') : 'is missing'}`,
        )
        .join(', ')}`,
    );
}

/** git has the same conflicts, or merges to paths that differ in case alone. */
async function judgeConflict(
  { model, app, failures }: Judging,
  apply: ApplyRecord,
  revision: number | undefined,
): Promise<void> {
  const draft = draftOf(app, apply);
  if (!draft || revision === undefined) {
    failures.push(`${apply.id} is in conflict with ${String(apply.head)}, which was no head`);
    return;
  }
  const { files, conflicts } = await model.merge(revision, draft.number);
  const expected = conflicts.length > 0 ? conflicts : collisionsOf(files);
  if (expected.join() !== apply.conflicts.join())
    failures.push(
      `${apply.id} (${draft.kind}) is in conflict with revision ${revision} at ${apply.conflicts.join(', ')}; by git at ${expected.join(', ') || 'nothing'}`,
    );
}

function collisionsOf(files: Files): string[] {
  const folded = Map.groupBy(files.keys(), (path) => path.toLowerCase());
  return [...folded.values()].flatMap((paths) => (paths.length > 1 ? paths : [])).sort();
}
