import { createHash } from 'node:crypto';
import { existsSync, lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { capture } from '../capture/capture.ts';
import type { Runtime } from '../protocol.ts';
import { endOf, entriesOf, makeBench, outputOf, scratch, tarStream, type Files } from '../runner.fixture.ts';
import { makeRoot } from '../sandbox/root.fixture.ts';
import { Workspaces, type Workspace } from '../workspaces/workspaces.ts';
import { settled } from '../sandbox/processes.ts';

const bench = await makeBench();
const canMount = bench !== undefined && (await bench.workspaces.trees.probe());
if (bench && !canMount)
  process.stderr.write(
    'SKIPPED, no trees can be mounted over one another here: there are no warm dependencies\n',
  );
let counter = 0;
const next = (kind: string): string => `${kind}_${++counter}`;

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
/** A lock file of one package, which `install` installs, and npm's record of it. */
const lockOf = (name: string): string =>
  JSON.stringify({
    lockfileVersion: 3,
    packages: { '': { name: 'app' }, [`node_modules/${name}`]: { version: '1.0.0' } },
  });
const install = (name: string): string =>
  `mkdir -p node_modules/${name}; echo ${name} > node_modules/${name}/index.js; ln -s ${name} node_modules/.link; echo '{"packages":{"node_modules/${name}":{"version":"1.0.0"}}}' > node_modules/.package-lock.json`;
const LOOK = 'cat node_modules/*/index.js 2>/dev/null || echo none';

async function open({
  group,
  files,
  runtime,
}: {
  group: string;
  files: Files;
  runtime?: Runtime;
}): Promise<Workspace> {
  const id = next('thr'),
    lock = files['package-lock.json'] ?? files['yarn.lock'];
  await bench!.workspaces.put(id, tarStream(files), {
    keep: { key: next('src'), group },
    warm: { group, locks: typeof lock === 'string' ? [sha256(lock)] : [], runtime: runtime?.name },
  });
  return bench!.workspaces.get(id);
}

async function sh({ id }: Workspace, command: string, runtime?: Runtime): Promise<string> {
  const request = { kind: 'exec' as const, workspaceId: id, command, timeoutMs: 30_000 };
  const entries = await bench!.run(next('op'), { ...request, ...(runtime && { runtime }) });
  expect([endOf(entries).exitCode, outputOf(entries, 'stderr')]).toEqual([0, '']);
  return outputOf(entries);
}

/** A project in which one thread has run this command. */
async function project(
  command: string,
  files: Files = { 'package-lock.json': lockOf('dep') },
): Promise<{ group: string; files: Files; first: Workspace }> {
  const group = next('prj');
  const first = await open({ group, files });
  await sh(first, command);
  return { group, files, first };
}

describe.skipIf(!canMount)('dependencies that a thread installed', () => {
  test('are for threads with the runtime that they were installed in', async () => {
    const runtime: Runtime = { name: 'a', root: makeRoot(scratch(), 'a'), image: null };
    const of = { group: next('prj'), files: { 'package-lock.json': lockOf('dep') } };
    const first = await open({ ...of, runtime });
    // The setting changed while the workspace lived.
    expect(await sh(first, `${install('dep')}; ${LOOK}`)).toBe('dep\n');
    expect(await sh(await open({ ...of, runtime }), LOOK, runtime)).toBe('none\n');
    await sh(await open({ ...of, runtime }), install('dep'), runtime);
    expect(await sh(await open({ ...of, runtime }), LOOK, runtime)).toBe('dep\n');
    expect(await sh(await open(of), LOOK)).toBe('none\n');
    expect(await sh(await open({ ...of, runtime: { ...runtime, name: 'b' } }), LOOK)).toBe('none\n');
  });

  test('are there for the next thread of the project with the same lock file, and for nobody else', async () => {
    const { group, files, first } = await project(install('dep'));
    expect(await sh(first, `${LOOK}; cat node_modules/.link/index.js`)).toBe('dep\ndep\n');
    expect(await sh(await open({ group, files: { ...files, other: 'file' } }), LOOK)).toBe('dep\n');
    expect(await sh(await open({ group: next('prj'), files }), LOOK)).toBe('none\n');
    expect(await sh(await open({ group, files: { 'package-lock.json': lockOf('other') } }), LOOK)).toBe(
      'none\n',
    );
    expect(await sh(await open({ group, files: {} }), LOOK)).toBe('none\n');
  });

  test("are each thread's own to change", async () => {
    const project1 = await project(install('dep'));
    const second = await open(project1);
    await sh(
      second,
      'echo changed > node_modules/dep/index.js; echo more > node_modules/dep/more; mkdir node_modules/new; rm node_modules/.link; mv node_modules/dep node_modules/renamed',
    );
    expect(await sh(second, 'ls node_modules; cat node_modules/renamed/*')).toBe(
      'new\nrenamed\nchanged\nmore\n',
    );
    for (const other of [project1.first, await open(project1)])
      expect(await sh(other, 'ls -A node_modules; cat node_modules/dep/*')).toBe(
        '.link\n.package-lock.json\ndep\ndep\n',
      );
    await sh(second, 'rm -rf node_modules');
    expect(await sh(second, LOOK)).toBe('none\n');
    expect(await sh(project1.first, 'rm -rf node_modules; ls')).toBe('package-lock.json\n');
    expect(await sh(await open(project1), LOOK)).toBe('dep\n');
  });

  test('are no part of a source, nor of a build', async () => {
    const { group, files, first } = await project(install('dep'));
    const second = await open({ group, files });
    await sh(second, 'echo new > new');
    expect((await capture(bench!.host, first, Object.keys(files))).files.map(({ path }) => path)).toEqual([
      'package-lock.json',
    ]);
    expect(
      (await capture(bench!.host, second, Object.keys(files))).files.map(({ path }) => path).sort(),
    ).toEqual(['new', 'package-lock.json']);
    const { task } = bench!.tasks.start(next('bld'), {
      kind: 'build',
      command: 'ls -A',
      outputDirectory: '.',
      timeoutMs: 20_000,
    });
    await task.putSource(undefined, { base: first.tree.over!.source.key });
    expect(outputOf(await entriesOf(task))).toBe('package-lock.json\n');
  });

  test("changed on top of kept ones, by whoever, stay that thread's own", async () => {
    const { group, files, first } = await project(install('dep'));
    const second = await open({ group, files });
    const lock = lockOf('two');
    for (const thread of [first, second])
      await sh(thread, `rm -rf node_modules; ${install('two')}; printf %s '${lock}' > package-lock.json`);
    expect(await sh(await open({ group, files: { 'package-lock.json': lock } }), LOOK)).toBe('none\n');
    expect(await sh(await open({ group, files }), LOOK)).toBe('dep\n');
  });

  test('are found again after the thread was put away', async () => {
    const { group, files, first } = await project(install('dep'));
    const { folder } = first.tree.over!.dependencies!;
    bench!.workspaces.remove(first.id);
    expect(await sh(await open({ group, files }), LOOK)).toBe('dep\n');
    expect(existsSync(folder)).toBe(true);
  });

  test('go with their project: at once, or when the last thread that uses them goes', async () => {
    const { group, files, first } = await project(install('dep'));
    const { folder } = first.tree.over!.dependencies!;
    bench!.workspaces.trees.forget(group);
    expect(await sh(await open({ group, files }), LOOK)).toBe('none\n');
    expect(await sh(first, LOOK)).toBe('dep\n');
    bench!.workspaces.remove(first.id);
    expect(await settled(() => !existsSync(folder), 5_000)).toBe(true);
  });

  test('of Yarn and pnpm are known too', async () => {
    const yarn = await project(
      'mkdir -p node_modules/dep; echo y > node_modules/dep/index.js; echo {} > node_modules/.yarn-integrity',
      { 'yarn.lock': 'dep@1' },
    );
    expect(await sh(await open(yarn), LOOK)).toBe('y\n');
    const pnpm = { 'pnpm-lock.yaml': 'dep: 1' };
    for (const [installed, expected] of [
      ['dep: 1', 'p\n'],
      ['dep: 2', 'none\n'],
    ]) {
      const { group, first } = await project(
        `mkdir -p node_modules/.pnpm node_modules/dep; echo p > node_modules/dep/index.js; printf "${installed}" > node_modules/.pnpm/lock.yaml; echo x > node_modules/.modules.yaml`,
        pnpm,
      );
      expect(first.tree.over!.dependencies !== undefined).toBe(expected === 'p\n');
      const id = next('thr');
      await bench!.workspaces.put(id, tarStream(pnpm), {
        keep: { key: next('src'), group },
        warm: { group, locks: [sha256('none'), sha256('dep: 1')] },
      });
      expect(await sh(bench!.workspaces.get(id), LOOK)).toBe(expected);
    }
  });
});

describe.skipIf(!canMount)('what is not kept:', () => {
  const dep = install('dep');
  test.each([
    ['an install without its end marker', `${dep}; rm node_modules/.package-lock.json`],
    ['a package that is missing', `${dep}; rm -r node_modules/dep`],
    ['a package that npm does not know', `${dep}; mkdir -p node_modules/more`],
    ['a package that was changed since', `${dep}; sleep 0.01; touch node_modules/dep/late`],
    ['what is not as the lock file says', dep.replace('1.0.0', '1.0.1')],
    ['an install without a lock file', `${dep}; rm package-lock.json`],
    ['a lock file that is a link', `${dep}; mv package-lock.json x; ln -s x package-lock.json`],
    ['a lock file that is no JSON', `${dep}; echo '{' > package-lock.json`],
    ['a file with a second name', `${dep}; ln node_modules/dep/index.js kept-a-hand-on-it`],
    ['a pipe', `${dep}; mkfifo node_modules/dep/pipe; touch node_modules/.package-lock.json`],
    ['a closed folder', `${dep}; mkdir -m 0 node_modules/dep/closed; touch node_modules/.package-lock.json`],
    [
      'a folder of the source that was moved in',
      `${dep}; mv src node_modules/dep/src; touch node_modules/.package-lock.json`,
    ],
    [
      'a folder of the source that was moved in and written',
      `${dep}; mv src node_modules/dep/src; echo x >> node_modules/dep/src/a; touch node_modules/.package-lock.json`,
    ],
    ['a link to a folder', `${dep}; mv node_modules elsewhere; ln -s elsewhere node_modules`],
    [
      'a marker that is a link',
      `${dep}; mv node_modules/.package-lock.json x; ln -s ../x node_modules/.package-lock.json`,
    ],
  ])('%s', async (_, command) => {
    const { group, files, first } = await project(command, {
      'package-lock.json': lockOf('dep'),
      'src/a': 'a',
    });
    expect(first.tree.over!.dependencies).toBe(undefined);
    expect(await sh(await open({ group, files }), LOOK)).toBe('none\n');
    expect(await sh(first, 'ls -A . | grep -c .')).not.toBe('0\n');
  });

  test('an install that was broken off', async () => {
    const group = next('prj'),
      files = { 'package-lock.json': lockOf('dep') };
    const first = await open({ group, files });
    const { task } = bench!.tasks.start(next('op'), {
      kind: 'exec',
      workspaceId: first.id,
      command: `${install('dep')}; echo there; sleep 60`,
      timeoutMs: 30_000,
    });
    for await (const entry of task.journal.read(0, AbortSignal.timeout(20_000)))
      if (entry.type === 'output') break;
    await task.cancel();
    expect(first.tree.over!.dependencies).toBe(undefined);
    // The folder is complete all the same, as a command that ends by itself shows.
    await sh(first, 'true');
    expect(await sh(await open({ group, files }), LOOK)).toBe('dep\n');
  });

  test('beside a source that has such a folder, whatever a patch makes of it', async () => {
    const { group, files } = await project(install('dep'));
    await bench!.workspaces.put(next('thr'), tarStream({ ...files, 'node_modules/dep/index.js': 'old' }), {
      keep: { key: `src_own_${group}`, group },
    });
    const id = next('thr');
    await bench!.workspaces.put(
      id,
      tarStream({ '.headrace-patch.json': JSON.stringify({ delete: ['node_modules/dep/index.js'] }) }),
      { base: `src_own_${group}`, warm: { group, locks: [sha256(lockOf('dep'))] } },
    );
    expect(await sh(bench!.workspaces.get(id), 'ls -A')).toBe('package-lock.json\n');
  });

  test('a folder that the source has itself', async () => {
    const { first } = await project(install('dep'), {
      'package-lock.json': lockOf('dep'),
      'node_modules/own.js': 'o',
    });
    expect(first.tree.over!.dependencies).toBe(undefined);
  });
});

describe.skipIf(!canMount)('links among kept dependencies', () => {
  test('lead nowhere but inside a sandbox, and are deleted as links', async () => {
    const { first, group } = await project(
      `${install('dep')}; ln -s /etc/hostname node_modules/.host; ln -s ../../../../../../../../etc node_modules/.etc; ln -s "$PWD" node_modules/.self; touch node_modules/.package-lock.json`,
    );
    const { folder } = first.tree.over!.dependencies!;
    expect(lstatSync(join(folder, 'node_modules/.etc')).isSymbolicLink()).toBe(true);
    expect(await sh(first, 'cat node_modules/.host; ls node_modules/.self')).toBe(
      'sandbox\nnode_modules\npackage-lock.json\n',
    );
    bench!.workspaces.remove(first.id);
    bench!.workspaces.trees.dependencies.forget(group);
    expect(await settled(() => !existsSync(folder), 5_000)).toBe(true);
    expect(existsSync('/etc/hostname')).toBe(true);
  });
});

describe.skipIf(!canMount)('a workspace', () => {
  test('works on as before once its dependencies were taken over', async () => {
    const files = { 'package-lock.json': lockOf('dep'), 'src/a': 'a', 'src/b': 'b' };
    const { first } = await project(`echo A > src/a; rm src/b; echo n > new; ${install('dep')}`, files);
    expect(first.tree.over!.dependencies).not.toBe(undefined);
    expect(readdirSync(first.tree.folder).sort()).toEqual(['new', 'src']);
    expect(await sh(first, 'cat src/a new; ls src; mv src moved; echo x > moved/c; ls moved')).toBe(
      'A\nn\na\na\nc\n',
    );
    expect(
      (await capture(bench!.host, first, Object.keys(files))).files.map(({ path }) => path).sort(),
    ).toEqual(['moved/a', 'moved/c', 'new', 'package-lock.json']);
  });

  test('that a runner without mounts holds keeps its own', async () => {
    const workspaces = new Workspaces(bench!.host, bench!.workspaces.trees);
    await workspaces.put('thr_plain', tarStream({ 'package-lock.json': lockOf('dep') }), {
      warm: { group: 'prj_plain', locks: [] },
    });
    expect(workspaces.get('thr_plain').tree.over).toBe(undefined);
  });
});
