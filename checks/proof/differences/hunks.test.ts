/** The regions of conflicts of real histories: those between the markers that git writes. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { createRandom } from '../../harness/random.ts';
import { Blobs, RealGit } from '../../../packages/server/src/merge/merge.fixture.ts';
import { createGit } from '../../../packages/server/src/merge/git.ts';
import { withHunks } from '../../../packages/server/src/merge/hunks.ts';
import { mergeTrees } from '../../../packages/server/src/merge/merge-trees.ts';
import { replay } from '../replay/replay.ts';
import type { Conflict, Hunk, Merge } from '../../../packages/server/src/merge/types.ts';

type Region = Pick<Hunk, 'base' | 'head' | 'draft'>;
type Sides = { base: Buffer; head: Buffer; draft: Buffer };
interface Conflicted {
  sides: Sides;
  hunks: Hunk[];
}

const BUNDLES = join(import.meta.dirname, '../../harness/histories');
/** Reverts, and as many picks, of each history. */
const REVERTS = Number(process.env['HEADRACE_HUNK_REVERTS'] ?? 15);
const SEED = Number(process.env['HEADRACE_HUNK_SEED'] ?? 1);
const DRAWN = Number(process.env['HEADRACE_HUNK_DRAWN'] ?? 800);

const real = new RealGit();
afterAll(() => real.remove());

/**
 * What git leaves in a file that it cannot merge, by the conflicts' places: one merge of a tree with one
 * file each, all by one process.
 */
function gitRegions(all: Sides[]): Region[][] {
  const parts: Buffer[] = [];
  for (const [n, sides] of all.entries()) {
    for (const side of ['base', 'head', 'draft'] as const) {
      parts.push(
        Buffer.from(
          `commit refs/heads/${side}${n}\ncommitter h <h> 0 +0000\ndata 0\n${side === 'base' ? '' : `from refs/heads/base${n}\n`}M 100644 inline f\ndata ${sides[side].length}\n`,
        ),
        sides[side],
        Buffer.from('\n'),
      );
    }
  }
  real.run(['fast-import', '--quiet', '--force'], Buffer.concat(parts));
  const answer = real
    .run(
      ['-c', 'merge.conflictStyle=diff3', 'merge-tree', '--write-tree', '--stdin', '--no-messages'],
      all.map((_, n) => `head${n} draft${n}\n`).join(''),
    )
    .toString('latin1');
  const trees = [...answer.matchAll(/[01]\0([0-9a-f]{40})\0/g)].map((match) => match[1]!);
  expect(trees.length).toBe(all.length);
  const out = real.run(['cat-file', '--batch'], trees.map((tree) => `${tree}:f\n`).join(''));
  let at = 0;
  return trees.map(() => {
    const end = out.indexOf(10, at);
    const size = Number(out.toString('latin1', at, end).split(' ')[2]);
    at = end + size + 2;
    return regionsOf(out.toString('utf8', end + 1, end + 1 + size));
  });
}

/** What ends each part of a region, and what begins behind it. */
const MARKERS = [
  [/^<{7} /, 'head'],
  [/^\|{7} /, 'base'],
  [/^={7}\r?$/, 'draft'],
  [/^>{7} /, null],
] as const;

function regionsOf(text: string): Region[] {
  const regions: Region[] = [];
  let next = 0;
  let open: keyof Region | null = null;
  for (const line of text.split('\n')) {
    const [marker, side] = MARKERS[next]!;
    if (marker.test(line)) {
      next = (next + 1) % MARKERS.length;
      open = side;
      if (side === 'head') regions.push({ base: [], head: [], draft: [] });
    } else if (open) {
      regions.at(-1)![open].push(line);
    }
  }
  return regions;
}

const region = ({ base, head, draft }: Region): Region => ({ base, head, draft });

/** The conflicts with text on both sides of a history's merges, reverts and picks. */
async function conflictsOf(name: string): Promise<Conflicted[]> {
  const found: Conflicted[] = [];
  await replay({
    repository: join(BUNDLES, `${name}.bundle`),
    reverts: REVERTS,
    below: createRandom(1).fork(name).below,
    async merge(input) {
      const merge = await mergeTrees(input);
      const conflicts = await withHunks(merge, { git: input.git, readBlobs: input.readBlobs });
      for (const conflict of conflicts) {
        const [base, head, draft] = stagesOf(conflict, merge.stages.get(conflict.path));
        if (!['content', 'add_add', 'rename'].includes(conflict.kind) || !head || !draft || head === draft)
          continue;
        const blobs = await input.readBlobs([base, head, draft].filter((sha): sha is string => !!sha));
        const of = (sha: string | undefined | null): Buffer => (sha ? blobs.get(sha)! : Buffer.alloc(0));
        const sides = { base: of(base), head: of(head), draft: of(draft) };
        if (!Object.values(sides).some((side) => side.includes(0)))
          found.push({ sides, hunks: conflict.hunks ?? [] });
      }
      return merge;
    },
  });
  return found;
}

const stagesOf = (
  conflict: Conflict,
  stages: { base?: string | undefined; head?: string | undefined; draft?: string | undefined } | undefined,
) =>
  conflict.kind === 'rename'
    ? [stages?.base, stages?.head, stages?.draft]
    : [conflict.base, conflict.head, conflict.draft];

/**
 * Texts of few different lines, each changed a little by both sides: what moves, repeats, touches and ends
 * without a newline.
 */
function drawn(below: (end: number) => number): Sides {
  const word = (): string => ['}', '{', '', '  return x;', '// note', 'end', `line ${below(9)}`][below(7)]!;
  const base = Array.from({ length: below(25) }, word);
  const side = (): Buffer => {
    const lines = [...base];
    for (let i = 0; i <= below(3); i++)
      lines.splice(below(lines.length + 1), below(3), ...Array.from({ length: below(3) }, word));
    return Buffer.from(lines.join('\n') + (below(4) === 0 ? '' : '\n'));
  };
  return { base: Buffer.from(base.join('\n') + (below(6) === 0 ? '' : '\n')), head: side(), draft: side() };
}

function expectPlaced(hunk: Hunk, sides: Sides): void {
  for (const side of ['base', 'head', 'draft'] as const) {
    const lines = sides[side].toString().split('\n');
    const start = hunk[`${side}Start`];
    // Of no lines: the line before.
    if (hunk[side].length > 0)
      expect(lines.slice(start - 1, start - 1 + hunk[side].length)).toEqual(hunk[side]);
    else expect(start >= 0 && start <= lines.length).toBe(true);
  }
}

async function hunksOf(all: Sides[]): Promise<Hunk[][]> {
  const dir = mkdtempSync(join(tmpdir(), 'headrace-hunks-'));
  const git = createGit({ dir });
  const blobs = new Blobs();
  try {
    const conflicts = all.map((sides, n): Conflict => {
      const [base, head, draft] = [sides.base, sides.head, sides.draft].map(
        (content) => blobs.tree({ f: content }).get('f')!.sha256,
      );
      return { path: `f${n}`, kind: 'content', base: base!, head: head!, draft: draft! };
    });
    const merge: Merge = {
      status: 'conflicted',
      changes: [],
      newBlobs: new Map(),
      conflicts,
      touched: [],
      stages: new Map(),
    };
    return (await withHunks(merge, { git, readBlobs: blobs.read })).map((conflict) => conflict.hunks ?? []);
  } finally {
    git.close();
    rmSync(dir, { recursive: true, force: true });
  }
}

describe('hunks are the regions between the markers of git', () => {
  test.each(['spinnaker', 'desk', 'storable'])(
    'in the conflicts of %s',
    { timeout: 120_000 },
    async (name) => {
      const found = await conflictsOf(name);
      expect(found.length).toBeGreaterThan(0);
      expect(found.map(({ hunks }) => hunks.map(region))).toEqual(
        gitRegions(found.map(({ sides }) => sides)),
      );
    },
  );

  test('in drawn conflicts', { timeout: 120_000 }, async () => {
    const { below } = createRandom(SEED);
    const all = Array.from({ length: DRAWN }, () => drawn(below));
    const [hunks, regions] = [await hunksOf(all), gitRegions(all)];
    expect(regions.filter((r) => r.length > 0).length).toBeGreaterThan(DRAWN / 4);
    expect(hunks.map((found) => found.map(region))).toEqual(regions);
    for (const [i, found] of hunks.entries()) for (const hunk of found) expectPlaced(hunk, all[i]!);
  });
});
