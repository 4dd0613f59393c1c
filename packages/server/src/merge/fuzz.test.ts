/** Random merges compared with what git says of the whole trees in a real repository: no clean result may differ, nor any verdict. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { Blobs, RealGit, x } from './fixture.ts';
import type { Literal } from './fixture.ts';
import { createGit } from './git.ts';
import { mergeTrees } from './merge-trees.ts';
import { withChanges } from './with-changes.ts';

const dir = mkdtempSync(join(tmpdir(), 'headrace-fuzz-'));
const git = createGit({ dir });
const real = new RealGit();
afterAll(() => {
  git.close();
  real.remove();
  rmSync(dir, { recursive: true, force: true });
});

const SEED = Number(process.env['HEADRACE_FUZZ_SEED'] ?? 1);
const MERGES = Number(process.env['HEADRACE_FUZZ_MERGES'] ?? 60);

/** mulberry32 */
function random(seed: number): (n: number) => number {
  let state = seed;
  return (n) => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) % n;
  };
}

type Files = Map<string, { content: string; executable: boolean }>;

const FOLDERS = ['', 'src/', 'src/deep/', 'lib/', 'docs/'];
const WORDS = ['}', '{', '', 'return x;', 'let a = 1;', '// note', 'end', 'if (a) {'];

function content(pick: (n: number) => number): string {
  const n = pick(5) === 0 ? pick(3) : 3 + pick(25);
  return Array.from({ length: n }, () => (pick(3) === 0 ? WORDS[pick(WORDS.length)] : `line ${pick(40)}`)).join('\n') + (pick(6) === 0 ? '' : '\n');
}

function start(pick: (n: number) => number): Files {
  return new Map(Array.from({ length: 3 + pick(8) }, () => [`${FOLDERS[pick(FOLDERS.length)]}f${pick(12)}`, { content: content(pick), executable: pick(8) === 0 }] as const));
}

function edit(text: string, pick: (n: number) => number): string {
  const rows = text.split('\n');
  for (let i = 0; i <= pick(2); i++) rows.splice(pick(rows.length + 1), pick(3), ...Array.from({ length: pick(3) }, () => (pick(2) === 0 ? WORDS[pick(WORDS.length)]! : `new ${pick(4)}`)));
  return rows.join('\n');
}

function change(files: Files, pick: (n: number) => number): Files {
  const next: Files = new Map(files);
  const any = (): string => [...next.keys()][pick(next.size)]!;
  for (let i = 0; i <= pick(4) && next.size > 0; i++) {
    const path = any();
    const file = next.get(path)!;
    const action = pick(12);
    if (action < 4) next.set(path, { ...file, content: edit(file.content, pick) });
    else if (action < 5) next.delete(path);
    else if (action < 7) move(next, path, `${FOLDERS[pick(FOLDERS.length)]}m${pick(4)}`, pick);
    else if (action < 8) for (const p of files.keys()) { if (p.startsWith('src/') && next.has(p)) move(next, p, `moved/${p.slice(4)}`, pick); }
    else if (action < 9) next.set(path, { ...file, executable: !file.executable });
    else next.set(`${FOLDERS[pick(FOLDERS.length)]}n${pick(5)}`, { content: pick(3) === 0 ? 'same\n' : content(pick), executable: pick(6) === 0 });
  }
  return next;
}

function move(files: Files, from: string, to: string, pick: (n: number) => number): void {
  const file = files.get(from)!;
  files.delete(from);
  files.set(to, pick(2) === 0 ? file : { ...file, content: edit(file.content, pick) });
}

const literal = (files: Files): Literal => Object.fromEntries([...files].map(([path, f]) => [path, f.executable ? x(f.content) : f.content]));

test(`${MERGES} random merges are merged as git merges them`, { timeout: 60_000 + MERGES * 200 }, async () => {
  for (let i = 0; i < MERGES; i++) {
    const pick = random(SEED * 1_000_003 + i);
    const blobs = new Blobs();
    const files = start(pick);
    const [base, head, draft] = [files, change(files, pick), change(files, pick)].map((f) => blobs.tree(literal(f)));
    const merge = await mergeTrees({ base: base!, head: head!, draft: draft!, readBlobs: blobs.read, git });
    const expected = real.merge(blobs, base!, head!, draft!);
    const about = `merge ${i} of seed ${SEED}: ${JSON.stringify(merge.conflicts.map((c) => [c.path, c.kind]))} against ${JSON.stringify(expected.names)}`;
    expect(merge.status, about).toBe(expected.clean ? 'clean' : 'conflicted');
    const named = merge.conflicts.map((c) => c.path);
    expect(named, about).toEqual(expect.arrayContaining(expected.names));
    // What git does not name is the other path of a file that moved, or a collision.
    expect(merge.conflicts.filter((c) => !expected.names.includes(c.path) && c.kind !== 'rename' && c.kind !== 'path'), about).toEqual([]);
    const shown = blobs.show(withChanges(head!, merge.changes), merge.newBlobs);
    // Where git has a conflict, everything else has to be merged as git does all the same.
    for (const path of new Set([...Object.keys(shown), ...Object.keys(expected.files)])) {
      if (!named.includes(path.replace(/~(head|draft)\d+(_\d+)?$/, ''))) expect([path, shown[path]], about).toEqual([path, expected.files[path]]);
    }
  }
});
