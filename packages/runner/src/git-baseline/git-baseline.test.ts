import { describe, expect, test } from 'vitest';
import { capture, captureChanges } from '../capture/capture.ts';
import type { Origin } from '../protocol.ts';
import { layer, open } from '../layers/layers.fixture.ts';
import { outputOf, endOf, entriesOf, makeBench, tarStream, type Files } from '../runner.fixture.ts';
import { fakeAgent } from '../tasks/fake-agent.fixture.ts';
import type { Workspace } from '../workspaces/workspaces.ts';
import { gitBaseline, noteSource } from './git-baseline.ts';

const bench = await makeBench();
const canMount = bench !== undefined && (await bench.workspaces.trees.probe());
const never = new AbortController().signal;
let counter = 0;

async function workspace(files: Files, isKept = true): Promise<Workspace> {
  const id = `thr_${++counter}`;
  await bench!.workspaces.put(
    id,
    tarStream(files),
    isKept ? { keep: { key: `src_${counter}`, group: 'prj' } } : {},
  );
  return bench!.workspaces.get(id);
}

/** The output of a command in the workspace; it must succeed. */
async function sh({ id }: Workspace, command: string): Promise<string> {
  const entries = await bench!.run(`op_${++counter}`, {
    kind: 'exec',
    workspaceId: id,
    command,
    timeoutMs: 30_000,
  });
  expect([endOf(entries).exitCode, outputOf(entries, 'stderr')]).toEqual([0, '']);
  return outputOf(entries);
}

/** The reply of an agent of this name: the output of its command. */
async function agent({ id }: Workspace, command: string, name = 'one'): Promise<string> {
  const code = `on['session/prompt'] = () => { text(require('child_process').execSync(${JSON.stringify(command)}).toString()); return { stopReason: 'end_turn' }; };`;
  const entries = await entriesOf(
    bench!.tasks.start(`run_${++counter}`, {
      kind: 'turn',
      workspaceId: id,
      agent: fakeAgent(code, { name }),
      prompt: 'x',
      permissions: 'allow',
      timeoutMs: 30_000,
    }).task,
  );
  expect(endOf(entries).error).toBe(null);
  return entries.flatMap((e) => (e.type === 'text' ? [e.content] : [])).at(-1) ?? '';
}

const SOURCE: Files = {
  'a.txt': 'a\n',
  'bin/run': { content: '#!/bin/sh\n', executable: true },
  '.gitignore': '*.log\n/dist/\n',
  'kept.log': 'k\n',
  'dist/kept': 'd',
  'node_modules/own.js': 'o',
  'crlf.txt': 'x\r\ny\r\n',
  '.gitattributes': '* text=auto eol=lf\n*.txt working-tree-encoding=UTF-16 ident filter=none\n',
};

describe.skipIf(!bench)("an agent's workspace", () => {
  test('is clean at first, then shows exactly what changed; no capture has it', async () => {
    const it = await workspace(SOURCE);
    expect(
      await agent(
        it,
        'git status --porcelain; git log --format=%s%an%d; git ls-files; git remote; git stash list; ls .git/hooks 2>&1 | tail -1; git show HEAD:crlf.txt | cmp - crlf.txt; git config gc.auto; git ls-files -s bin/run | cut -c1-6',
      ),
    ).toBe(
      `Sourcesource (HEAD -> main)\n${Object.keys(SOURCE).sort().join('\n')}\nls: cannot access '.git/hooks': No such file or directory\n0\n100755\n`,
    );
    expect(
      await agent(
        it,
        'echo b >> a.txt; rm bin/run; echo n > new; echo n > new.log; chmod +x kept.log; mkdir -p node_modules/dep; echo d > node_modules/dep/d; git status --porcelain; git diff a.txt | tail -2',
      ),
    ).toBe(' M a.txt\n D bin/run\n M kept.log\n?? new\n a\n+b\n');
    const { files, warnings } = await capture(bench!.host, it, Object.keys(SOURCE));
    expect(files.map((file) => file.path).sort()).toEqual(
      [...Object.keys(SOURCE).filter((path) => path !== 'bin/run'), 'new'].sort(),
    );
    expect(warnings.map((warning) => warning.path)).toEqual(['node_modules/dep']);
  });

  test.each([[false], [true]])(
    'is made after other work too, from its source alone (kept: %s)',
    async (isKept) => {
      const it = await workspace(SOURCE, isKept);
      await sh(
        it,
        'echo more >> kept.log; rm dist/kept; echo ignored > other.log; echo n > new; mkdir -p node_modules/dep; echo d > node_modules/dep/d; ln -s a.txt link',
      );
      noteSource(it, Object.keys(SOURCE));
      expect(await agent(it, 'git status --porcelain; git ls-files')).toBe(
        `${['.gitattributes', '.gitignore', 'a.txt', 'bin/run', 'crlf.txt', 'kept.log', 'link', 'new', 'node_modules/own.js'].join('\n')}\n`,
      );
    },
  );

  test("keeps the agents' own commits, whichever agent comes next; a new one begins anew", async () => {
    const it = await workspace({ a: 'a\n' });
    await agent(it, 'echo b > b; git add b; git commit -qm own');
    expect(await agent(it, 'git log --format=%s; git status --porcelain', 'two')).toBe('own\nSource\n');
    await bench!.workspaces.put(it.id, tarStream({ c: 'c\n' }));
    expect(await agent(it, 'git log --format=%s; git ls-files')).toBe('Source\nc\n');
  });

  test.skipIf(!canMount)(
    'of a kept source has that of the one before, and what a patch or an edit made of it',
    async () => {
      const [key, group] = ['src_shared', 'prj'];
      const put = async (origin: Origin, files?: Files): Promise<Workspace> => {
        const id = `thr_${++counter}`;
        await bench!.workspaces.put(id, files && tarStream(files), origin);
        return bench!.workspaces.get(id);
      };
      const look =
        'git status --porcelain; git log --format=%s; git ls-files; cat a.txt; echo more >> a.txt; git add -A; git commit -qm own; git status --porcelain';
      const [one, two] = [await put({ keep: { key, group } }, SOURCE), await put({ base: key })];
      const expected = `Source\n${Object.keys(SOURCE).sort().join('\n')}\na\n`;
      expect(await Promise.all([agent(one, look), agent(two, look)])).toEqual([expected, expected]);
      expect([one, two].map(({ tree }) => tree.over!.lowers[0])).toEqual([
        one.tree.over!.source.git!.folder,
        one.tree.over!.source.git!.folder,
      ]);
      const patched = await put(
        { base: key },
        { '.headrace-patch.json': '{"delete":["kept.log","bin/run"]}', 'a.txt': 'patched\n', 'n.log': 'n\n' },
      );
      expect(
        await agent(
          patched,
          'git status --porcelain; git log --format=%s; git ls-files; git show HEAD:a.txt',
        ),
      ).toBe(
        `Source\n${[...Object.keys(SOURCE).filter((path) => !['kept.log', 'bin/run'].includes(path)), 'n.log'].sort().join('\n')}\npatched\n`,
      );
      expect(await agent(await put({ base: key }), 'git status --porcelain; git log --format=%s')).toBe(
        'Source\n',
      );
    },
  );

  test('that is empty has an empty source', async () => {
    expect(
      await agent(
        await workspace({}),
        'git log --format=%s; git ls-files; git status --porcelain; touch x; git status --porcelain',
      ),
    ).toBe('Source\n?? x\n');
  });

  test('of the scripted agent and of commands has none', async () => {
    const it = await workspace({ a: 'a\n' });
    const { task } = bench!.tasks.start(`run_${++counter}`, {
      kind: 'turn',
      workspaceId: it.id,
      agent: { ...fakeAgent(''), name: 'scripted', command: null },
      prompt: '```sh\nls -A\n```',
      permissions: 'allow',
      timeoutMs: 30_000,
    });
    expect(endOf(await entriesOf(task)).outcome).toBe('completed');
    expect(await sh(it, 'ls -A')).toBe('a\n');
  });
});

describe.skipIf(!bench)('a .git', () => {
  test.each([
    [
      'with a program to run',
      'git init -q; git config core.fsmonitor "touch /workspace/pwned #"; git config core.hooksPath /workspace',
      'own',
    ],
    ['that is a file', 'echo "gitdir: /workspace/elsewhere" > .git', 'own'],
    ['that is a link', 'mkdir elsewhere; ln -s elsewhere .git', 'own'],
    ['that leads nowhere', 'ln -s /none .git', 'own'],
  ])('%s, from before, stays and harms nothing', async (_, command) => {
    const it = await workspace({ a: 'a\n' });
    await sh(it, command);
    const before = await sh(it, 'ls -ld .git | cut -c1; cat .git 2>/dev/null || true');
    await agent(it, 'true');
    expect(await sh(it, 'ls -ld .git | cut -c1; cat .git 2>/dev/null || true')).toBe(before);
    expect((await capture(bench!.host, it, ['a'])).files.map((file) => file.path)).toEqual(['a']);
    await bench!.workspaces.put(it.id, tarStream({ a: 'a\n' }));
    expect(await agent(it, 'git log --format=%s; git status --porcelain')).toBe('Source\n');
  });

  test.each([
    ['removes', 'rm -rf .git'],
    [
      'replaces by a file',
      'rm -rf .git; echo "gitdir: ../x" > .git; mkdir -p sub/.GIT; echo x > sub/.GIT/config',
    ],
    ['closes', 'chmod 000 .git'],
    [
      'makes hostile',
      'git config core.fsmonitor "touch /workspace/pwned #"; echo "#!/bin/sh" > .git/run; mkdir .git/hooks; printf "#!/bin/sh\\ntouch /workspace/pwned\\n" > .git/hooks/post-checkout; chmod +x .git/hooks/post-checkout; git init -q sub',
    ],
  ])('that an agent %s is not made again, and nothing of it is captured', async (_, command) => {
    const it = await workspace({ a: 'a\n' });
    await agent(it, command);
    const tree = await sh(it, 'find . -path ./.git -prune -o -print | sort; stat -c %y%F .git 2>&1 || true');
    await agent(it, 'true');
    expect(await sh(it, 'find . -path ./.git -prune -o -print | sort; stat -c %y%F .git 2>&1 || true')).toBe(
      tree,
    );
    expect((await capture(bench!.host, it, ['a'])).files.map((file) => file.path)).toEqual(['a']);
    if (it.tree.over)
      expect(await captureChanges(bench!.host, it, ['a'])).toMatchObject({
        files: [],
        over: { moved: [], missing: [] },
      });
    await bench!.workspaces.put(it.id, tarStream({ a: 'a\n' }));
    expect(await agent(it, 'git log --format=%s; git status --porcelain; ls')).toBe('Source\na\n');
  });

  test('that cannot be made is none at all, and the turn goes on', async () => {
    const it = await workspace({ a: 'a\n', b: 'b\n' }, false);
    await sh(it, 'chmod 000 b');
    expect(await agent(it, 'ls -A')).toBe('a\nb\n');
    expect(await agent(it, 'chmod 644 b; ls -A')).toBe('a\nb\n');
  });

  test.each([[false], [true]])(
    'is not waited for by a cancel, and is made by the next turn (kept: %s)',
    async (isKept) => {
      const it = await workspace({ a: 'a\n' }, isKept);
      const stop = new AbortController();
      const made = gitBaseline(bench!.host, bench!.workspaces.trees, it, stop.signal);
      stop.abort();
      await made;
      expect(await sh(it, 'ls -A')).toBe('a\n');
      const own = await workspace({ a: 'a\n' });
      await sh(own, 'git init -q');
      const again = new AbortController(),
        begun = gitBaseline(bench!.host, bench!.workspaces.trees, own, again.signal);
      again.abort();
      await begun;
      expect(await sh(own, 'ls -A')).toBe('.git\na\n');
      await gitBaseline(bench!.host, bench!.workspaces.trees, it, never);
      expect(await sh(it, 'git log --format=%s')).toBe('Source\n');
    },
  );
});

describe.skipIf(!bench)('over a layer', () => {
  test.each([...(canMount ? [true] : []), false])(
    'git sees the source alone, and what is new (kept: %s)',
    async (isKept) => {
      const key = await layer(
        bench!,
        `mkdir -p gen/sub empty 'odd [*?] \\ name ' only/deep; for f in gen/sub/x gen/at top 'odd [*?] \\ name /x' ' #lead' '!lead' only/deep/y; do echo l > "$f"; done`,
      );
      const files = { ...SOURCE, 'gen/own': 'o\n', 'only/deep/mine': 'm\n' };
      const look = 'git status --porcelain; git log --format=%s; git ls-files';
      const expected = `Source\n${Object.keys(files).sort().join('\n')}\n`;
      for (const _ of [1, 2])
        expect(await agent(await open(bench!, files, { layer: key, isKept }), look)).toBe(expected);
      const it = await open(bench!, files, { layer: key, isKept });
      await sh(it, 'echo n > new; echo more >> a.txt; echo l > gen/new; echo m >> top');
      noteSource(it, Object.keys(files));
      expect(
        await agent(it, `${look}; echo o >> gen/own; rm a.txt; echo n2 > new2; git status --porcelain`),
      ).toBe(
        `Source\n${[...Object.keys(files), 'gen/new', 'new'].sort().join('\n')}\n D a.txt\n M gen/own\n?? new2\n`,
      );
    },
  );

  test('git hides nothing else by the names in the layer', async () => {
    const key = await layer(bench!, `touch "$(printf 'x\\nnew')" plain`);
    for (const isKept of [canMount, false]) {
      const it = await open(bench!, SOURCE, { layer: key, isKept });
      expect(await agent(it, 'echo n > new; git status --porcelain new plain')).toBe('?? new\n');
    }
  });

  test.skipIf(!canMount)('git sees what a patch has added below the layer, or ignored', async () => {
    const key = await layer(bench!, 'mkdir -p gen/sub; echo l > gen/sub/x; echo l > gen/own.log');
    const base = `src_${++counter}`;
    await open(bench!, SOURCE, { keep: { key: base, group: 'prj' }, layer: key });
    const patch = { 'gen/sub/new': 'n\n', 'gen/own.log': 'o\n', 'more.log': 'm\n' };
    const made = { '.headrace-patch.json': '{"delete":["a.txt"]}', ...patch };
    const all = [...Object.keys(SOURCE).filter((path) => path !== 'a.txt'), ...Object.keys(patch)];
    const look =
      'git status --porcelain; git ls-files; for f in gen/sub/* *.log; do echo x >> $f; done; git status --porcelain';
    const expected = `${all.sort().join('\n')}\n M gen/sub/new\n M kept.log\n M more.log\n`;
    expect(await agent(await open(bench!, made, { base, layer: key }), look)).toBe(expected);
    const it = await open(bench!, made, { base, layer: key });
    noteSource(it, all);
    expect(await agent(it, look)).toBe(expected);
    const later = await open(bench!, {}, { keep: { key: `src_${++counter}`, group: 'prj' }, layer: key });
    await bench!.workspaces.trees.patch(
      later.tree,
      tarStream({ '.headrace-patch.json': '{"delete":[]}', '.gitignore': '*.log', ...patch }),
    );
    expect(await agent(later, 'git ls-files -- gen more.log')).toBe('gen/own.log\ngen/sub/new\nmore.log\n');
  });

  test('git keeps what the source ignores, after a capture of a patched workspace', async () => {
    const base = `src_${++counter}`;
    await open(bench!, SOURCE, { keep: { key: base, group: 'prj' } });
    const it = await open(bench!, { '.headrace-patch.json': '{"delete":[]}', 'more.log': 'm\n' }, { base });
    await sh(it, 'echo n > new');
    noteSource(it, [...Object.keys(SOURCE), 'more.log']);
    expect(await agent(it, 'git ls-files -- more.log')).toBe('more.log\n');
  });
});
