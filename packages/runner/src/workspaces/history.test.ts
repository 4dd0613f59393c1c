import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { capture, captureChanges } from '../capture/capture.ts';
import type { CaptureResult, Origin } from '../protocol.ts';
import { gitBaseline } from '../git-baseline/git-baseline.ts';
import { layer } from '../layers/layers.fixture.ts';
import { endOf, makeBench, outputOf, scratch } from '../runner.fixture.ts';
import { tarOf, type TarFile } from '../tar.ts';
import { Trees } from './trees.ts';

const bench = await makeBench();
const canOverlay = bench !== undefined && (await bench.workspaces.trees.probe());
const folder = scratch();
let counter = 0;

const FILES: TarFile[] = [
  { path: 'a', content: 'a\n' },
  { path: 'd/x', content: 'x\n' },
  { path: 'node_modules/own', content: 'o' },
];
const LINKS: Record<string, string> = {
  link: 'a',
  'd/up': '../a',
  [`d/${'long'.repeat(30)}`]: `../${'é'.repeat(60)}`,
  'node_modules/l': '../d',
};
const linked = (links = LINKS): TarFile[] =>
  Object.entries(links).map(([path, target]) => ({ path, content: '', target }));
const HISTORY = makeHistory();
const stream = (files: TarFile[]) => Readable.from([tarOf(files)], { objectMode: false });

/** The `.git` of a repository with one commit of `a`. */
function makeHistory(): TarFile[] {
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=n', '-c', 'user.email=e', ...args], { cwd: folder, stdio: 'pipe' });
  git('init', '-q', '-b', 'work', '--template=');
  execFileSync('sh', ['-c', 'echo a > a'], { cwd: folder });
  git('add', 'a');
  git('commit', '-q', '-m', 'First');
  return readdirSync(join(folder, '.git'), { recursive: true, withFileTypes: true }).flatMap((entry) => {
    const path = join(entry.parentPath, entry.name);
    return entry.isFile() ? [{ path: path.slice(folder.length + 1), content: readFileSync(path) }] : [];
  });
}

async function put(tar: TarFile[] | undefined, origin: Origin): Promise<string> {
  const id = `thr_${++counter}`;
  await bench!.workspaces.put(id, tar && stream(tar), origin);
  return id;
}

async function sh(workspaceId: string, command: string): Promise<string> {
  const entries = await bench!.run(`op_${++counter}`, {
    kind: 'exec',
    workspaceId,
    command,
    timeoutMs: 30_000,
  });
  expect([endOf(entries).exitCode, outputOf(entries, 'stderr')]).toEqual([0, '']);
  return outputOf(entries);
}

test.skipIf(!canOverlay)(
  'a history that was sent is there, although all that may be kept is in use',
  async () => {
    const trees = new Trees(bench!.host, { trees: 1, files: 1e6, bytes: 1e9 });
    const made = [];
    for (const name of ['one', 'two']) {
      await trees.keepHistory({ key: `his_${name}`, group: 'prj_1' }, stream(HISTORY));
      const origin = { keep: { key: `src_${name}`, group: 'prj_1' }, history: `his_${name}` };
      made.push(await trees.make(name, stream(FILES), origin));
    }
    expect(made.map((tree) => tree.over?.history?.key)).toEqual(['his_one', 'his_two']);
    made.forEach((tree) => trees.remove(tree));
  },
);

const BASE = FILES.map(({ path }) => path);
/** What a capture says, whichever way the tree can be seen. */
async function warned(id: string): Promise<string[]> {
  const it = bench!.workspaces.get(id);
  const all: CaptureResult[] = [await capture(bench!.host, it, BASE)];
  if (it.tree.over) all.push(await captureChanges(bench!.host, it, BASE));
  const [one, ...others] = all.map(({ warnings }) =>
    warnings.map(({ path, reason }) => `${path}: ${reason}`).toSorted(),
  );
  for (const other of others) expect(other).toEqual(one);
  return one!;
}

describe.skipIf(!bench).each([
  ['over kept files', true],
  ['of a copy', false],
])('a workspace %s', (_, isKept) => {
  if (isKept && !canOverlay) return;
  const origin = (key: string): Origin => (isKept ? { keep: { key, group: 'prj_1' } } : {});

  test('has the links of its source; none that is as it was is a warning', async () => {
    await bench!.workspaces.trees.keepHistory({ key: 'his_links', group: 'prj_1' }, stream(HISTORY));
    const id = await put([...FILES, ...linked()], { ...origin('src_links'), history: 'his_links' });
    expect(await sh(id, 'readlink link d/up; cat d/up; readlink d/long*; cat node_modules/l/x')).toBe(
      `a\n../a\na\n../${'é'.repeat(60)}\nx\n`,
    );
    expect(await warned(id)).toEqual([]);
    await sh(id, 'echo more >> a; echo new > d/new; touch node_modules/l');
    expect(await warned(id)).toEqual([]);
    await sh(
      id,
      'ln -sfn d link; rm d/up; ln -s a added; rm d/long*; echo file > d/long; mv node_modules/l m',
    );
    expect(await warned(id)).toEqual(
      [
        'added: symlink',
        'd/up: symlink',
        `d/${'long'.repeat(30)}: symlink`,
        'link: symlink',
        'm: symlink',
        'node_modules/l: symlink',
      ].toSorted(),
    );
  });

  test('has the history that is kept, and no capture has it', async () => {
    await bench!.workspaces.trees.keepHistory({ key: 'his_one', group: 'prj_1' }, stream(HISTORY));
    const id = await put(FILES, { ...origin('src_history'), history: 'his_one' });
    expect(await sh(id, 'git log --format=%s; git branch --show-current; git ls-files')).toBe(
      'First\nwork\na\n',
    );
    await sh(id, 'git add d/x; git commit -qm Own; git gc -q 2>/dev/null');
    expect(await warned(id)).toEqual([]);
    const other = await put(FILES, { ...origin('src_history'), history: 'his_one' });
    expect(await sh(other, 'git log --format=%s')).toBe('First\n');
    await expect(put(FILES, { ...origin('src_history'), history: 'his_none' })).rejects.toMatchObject({
      code: 'no_history',
    });
  });

  test('gets other links by a patch, which replaces what is in their way', async () => {
    await bench!.workspaces.trees.keepHistory({ key: 'his_patch', group: 'prj_1' }, stream(HISTORY));
    const id = await put([...FILES, ...linked({ link: 'a', gone: 'a' })], {
      ...origin('src_patch'),
      history: 'his_patch',
    });
    const links = { link: 'd', 'deep/er': '../a' };
    const patch: TarFile[] = [
      { path: '.headrace-patch.json', content: JSON.stringify({ delete: ['gone'], links }) },
      ...linked(links),
    ];
    await bench!.workspaces.trees.patch(bench!.workspaces.get(id).tree, stream(patch));
    expect(await sh(id, 'readlink link deep/er; cat link/x; ls')).toBe(
      'd\n../a\nx\na\nd\ndeep\nlink\nnode_modules\n',
    );
    expect(await warned(id)).toEqual([]);
    if (!isKept) return;
    const fresh = await put(patch, { base: 'src_patch', history: 'his_patch' });
    expect(await sh(fresh, 'readlink link deep/er; cat link/x; ls')).toBe(
      'd\n../a\nx\na\nd\ndeep\nlink\nnode_modules\n',
    );
    expect(await warned(fresh)).toEqual([]);
  });
});

test.skipIf(!bench).each([...(canOverlay ? [true] : []), false])(
  'git in a workspace with a history does not show what its layer has (kept: %s)',
  async (isKept) => {
    const { trees } = bench!.workspaces;
    const key = await layer(bench!, 'mkdir -p gen d; echo g > gen/x; echo l > a; echo y > d/y');
    await trees.keepHistory({ key: `his_layer_${isKept}`, group: 'prj_1' }, stream(HISTORY));
    const id = await put([FILES[0]!], {
      ...(isKept ? { keep: { key: 'src_layer', group: 'prj_1' } } : {}),
      history: `his_layer_${isKept}`,
      layer: key,
    });
    const workspace = bench!.workspaces.get(id);
    for (const _ of [1, 2]) await gitBaseline(bench!.host, trees, workspace, new AbortController().signal);
    expect(
      await sh(id, 'git status --porcelain; git log --format=%s; cat a gen/x d/y; wc -l < .git/info/exclude'),
    ).toBe('First\na\ng\ny\n2\n');
    expect(await sh(id, 'echo n > new; git status --porcelain')).toBe('?? new\n');
    const { files, warnings } = await (isKept ? captureChanges : capture)(bench!.host, workspace, ['a']);
    expect([files.map(({ path }) => path).filter((path) => path !== 'a'), warnings]).toEqual([['new'], []]);
  },
);

test.skipIf(!bench)('a history that is gone stays gone, also over a layer', async () => {
  const { trees } = bench!.workspaces;
  const key = await layer(bench!, 'echo g > gen');
  await trees.keepHistory({ key: 'his_gone', group: 'prj_1' }, stream(HISTORY));
  const id = await put([FILES[0]!], { history: 'his_gone', layer: key });
  await sh(id, 'rm -rf .git');
  await gitBaseline(bench!.host, trees, bench!.workspaces.get(id), new AbortController().signal);
  expect(await sh(id, 'ls -A')).toBe('a\ngen\n');
});
