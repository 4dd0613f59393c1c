import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { createRandom } from '../../harness/random.ts';
import { RealGit, lines } from '../../../packages/server/src/merge/merge.fixture.ts';
import { openReplayGit } from './git.ts';
import { parseHistory, realMerges, sampleTriples } from './history.ts';
import { replay } from './replay.ts';

const scratch = mkdtempSync(join(tmpdir(), 'headrace-replay-test-'));
const real = new RealGit();
afterAll(() => {
  real.remove();
  rmSync(scratch, { recursive: true, force: true });
});

/** A commit for `git fast-import`: `name` is its branch, the first parent is what its files start from. */
function commit(name: string, parents: string[], files: Record<string, string> = {}, more = ''): string {
  const [from, ...merged] = parents;
  return [
    `reset refs/heads/${name}\n${from ? `from refs/heads/${from}\n` : ''}\ncommit refs/heads/${name}\ncommitter a <a> 0 +0000\ndata ${name.length}\n${name}\n`,
    ...merged.map((parent) => `merge refs/heads/${parent}\n`),
    ...Object.entries(files).map(
      ([path, content]) => `M 100644 inline ${path}\ndata ${Buffer.byteLength(content)}\n${content}\n`,
    ),
    more,
    '\n',
  ].join('');
}

describe('merges of a history', () => {
  test('bases are those of git; merges with several, none or more than two parents are counted', async () => {
    real.run(
      ['fast-import', '--quiet', '--force'],
      [
        commit('root', [], { a: '1\n' }),
        commit('left', ['root'], { b: '1\n' }),
        commit('right', ['root'], { c: '1\n' }),
        commit('third', ['root'], { d: '1\n' }),
        commit('alone', [], { e: '1\n' }),
        commit('plain', ['left', 'right']),
        commit('octopus', ['left', 'right', 'third']),
        commit('unrelated', ['left', 'alone']),
        commit('mirrored', ['right', 'left']),
        commit('crossed', ['plain', 'mirrored']),
        commit('later', ['plain'], { f: '1\n' }),
        commit('nested', ['later', 'third']),
        commit('forward', ['root', 'left']),
      ].join(''),
    );
    const history = parseHistory(real.run(['log', '--all', '--topo-order', '--format=%H %T %P']).toString());
    const { triples, skipped } = realMerges(history);
    expect(skipped).toEqual({ crissCross: 1, unrelated: 1, octopus: 1, aborted: 0 });
    expect(triples).toHaveLength(4);
    for (const t of triples) {
      const [base, head, draft] = [t.base, t.head, t.draft].map((place) => history.commits[place]!.oid);
      expect(real.run(['merge-base', '--all', head!, draft!]).toString().trim()).toBe(base);
    }
  });

  test('what is drawn is the same for the same seed, once each, and a revert has a later head', async () => {
    const bundle = join(import.meta.dirname, '../../harness/histories/desk.bundle');
    const git = await openReplayGit(bundle, join(scratch, 'desk.git'));
    const history = parseHistory(
      (await git.run(['log', 'main', '--topo-order', '--format=%H %T %P'])).toString(),
    );
    git.close();
    const drawn = sampleTriples(history, 50, createRandom(3).below);
    expect(sampleTriples(history, 50, createRandom(3).below)).toEqual(drawn);
    expect(sampleTriples(history, 50, createRandom(4).below)).not.toEqual(drawn);
    expect(new Set(drawn.map((t) => JSON.stringify(t))).size).toBe(150);
    for (const t of drawn) {
      if (t.kind === 'distant') continue;
      expect(history.commits[t.commit]!.parents).toEqual([t.kind === 'revert' ? t.draft : t.base]);
      expect(t.commit).toBe(t.kind === 'revert' ? t.base : t.draft);
      if (t.kind === 'revert') expect(t.head).toBeLessThan(t.commit);
    }
  });

  test('symlinks, submodules and names that no source may have are left out of all sides, on both engines', async () => {
    const dir = new RealGit();
    const special = `M 120000 inline link\ndata 1\na\nM 160000 ${'1'.repeat(40)} module\nM 100644 inline back\\slash\ndata 1\nx\nM 100644 inline README\ndata 1\nx\nM 100644 inline readme\ndata 1\nx\n`;
    const text = lines(20);
    dir.run(
      ['fast-import', '--quiet'],
      [
        commit('base', [], { a: text, README: 'x\n' }, special),
        commit('head', ['base'], {
          a: lines(20, { 2: 'H' }),
          link: 'a file now\n',
          'module/file': 'in a folder now\n',
        }),
        commit('draft', ['base'], { a: lines(20, { 15: 'D' }), 'new/file': 'n\n' }),
        commit('merged', ['head', 'draft'], { a: lines(20, { 2: 'H', 15: 'D' }), 'new/file': 'n\n' }),
      ].join(''),
    );
    const report = await replay({ repository: dir.dir });
    dir.remove();
    expect(report.differences).toEqual([]);
    expect(report.merges.merge).toEqual({ replayed: 1, clean: 1, conflicted: 0 });
    expect(report.leftOut).toEqual({ symlink: 1, submodule: 1, name: 2 });
  });

  test('of like files the one is named that git merged, and another one is no difference', async () => {
    const dir = new RealGit();
    const [like, edited] = [lines(20), lines(20, { 5: 'edited' })];
    const more = (paths: string[]) => paths.map((path) => `D ${path}\n`).join('');
    dir.run(
      ['fast-import', '--quiet'],
      [
        commit('base', [], { twin: like, moved: edited, 'a/one': like, 'b/one': like }),
        // The moved file becomes like one that goes: by content alone it would be that one.
        commit(
          'head',
          ['base'],
          { new: like, 'c/two': like, 'd/three': like },
          more(['twin', 'moved', 'a/one', 'b/one']),
        ),
        commit('draft', ['base'], {
          moved: lines(20, { 5: 'else' }),
          'a/one': lines(20, { 9: 'D' }),
          'b/one': '',
        }),
        commit('merged', ['head', 'draft']),
      ].join(''),
    );
    const report = await replay({ repository: dir.dir, reverts: 20, below: createRandom(1).below });
    dir.remove();
    expect(report.differences).toEqual([]);
    expect(report.merges.merge.conflicted + report.merges.revert.conflicted).toBeGreaterThan(1);
  });

  test('a replay is ended by its signal, and a repository that is none is said to be so', async () => {
    const bundle = join(import.meta.dirname, '../../harness/histories/storable.bundle');
    await expect(
      replay({ repository: bundle, signal: AbortSignal.abort(new Error('enough')) }),
    ).rejects.toThrow('enough');
    await expect(replay({ repository: join(scratch, 'none') })).rejects.toThrow(
      /git clone ended \(128\).*does not exist/,
    );
  });
});
