import { rm } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestServer } from '../../service.fixture.ts';
import type { TestServer } from '../../service.fixture.ts';
import { ok, until } from '../../threads/threads.fixture.ts';
import { newGrounded } from './history.fixture.ts';

let s: TestServer;
beforeAll(async () => {
  s = await startTestServer();
});
afterAll(async () => {
  await s?.close();
});

const FILES = {
  ...Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`src/part-${i % 3}/${i}.txt`, `${i}\n`])),
  'a.txt': 'a\n',
  '.gitignore': '*.log\n',
  '.gitattributes': '* text=auto eol=crlf filter=none\n*.txt ident\n',
};
const CLEAN = 'git status --porcelain; git diff --quiet HEAD && git diff --cached --quiet && echo clean';

describe('a workspace upon a commit', () => {
  test('has its history on a branch work, cut off, without a remote, and is clean', async () => {
    const b = await newGrounded(s, FILES, { before: 60 });
    expect(
      await b.exec(
        `git branch --show-current; git rev-list --count HEAD; git log -2 --format=%s; git rev-parse --abbrev-ref origin/main; test "$(git rev-parse HEAD)" = "$(git rev-parse refs/remotes/origin/main)" && echo same; git remote; git fsck 2>&1; git config --local --get-regexp 'remote|url|http' || ${CLEAN}`,
      ),
    ).toBe('work\n50\nBase\nStep 60\norigin/main\nsame\nclean\n');
    expect(await b.latest()).toBe((await b.thread()).sourceId);
    const run = await b.work(
      'echo b > b.txt; git add b.txt; git commit -qm Mine; echo c > c.txt; echo x > x.log',
    );
    expect(run.warnings).toEqual([]);
    expect(await b.files(await b.latest())).toEqual({ ...FILES, 'b.txt': 'b\n', 'c.txt': 'c\n' });
  });

  test('is made once; another restore, and a draft upon it, show the same history', async () => {
    const { runner } = s.service.ctx;
    const { putHistory } = runner;
    let made = 0;
    runner.putHistory = (...args) => {
      made++;
      return putHistory(...args);
    };
    try {
      const b = await newGrounded(s, FILES);
      expect(await b.exec(CLEAN)).toBe('clean\n');
      // As long as before, so that only a look inside shows the difference.
      await b.work('echo A > a.txt; rm src/part-0/0.txt; mv src/part-1 moved; chmod +x src/part-2/2.txt');
      const status = await b.exec('git status --porcelain | sort');
      expect(status).toContain(' M a.txt\n');
      await b.lose();
      expect(await b.exec('git status --porcelain | sort')).toBe(status);
      await b.work('echo again > b.txt');
      await b.lose();
      expect(await b.exec('git status --porcelain | grep -v b.txt | sort')).toBe(status);
    } finally {
      runner.putHistory = putHistory;
    }
    expect(made).toBe(1);
  });

  test('shows the newest commit of the pull request of its thread', async () => {
    const b = await newGrounded(s, FILES);
    await b.work('echo b > b.txt; echo A > a.txt');
    await ok(s.call('POST', `${b.at}/pull-requests`, { title: 'Pushed' }));
    await b.lose();
    expect(await b.exec(`git log --format=%s; git log -1 --format=%s origin/main; ${CLEAN}`)).toBe(
      'Pushed\nBase\nBase\nclean\n',
    );
    // A draft that goes back to what the base had is a change now, though it was none before.
    await b.work('echo a > a.txt');
    await b.lose();
    expect(await b.exec('git diff HEAD~1 HEAD --stat | tail -1; git diff --name-only HEAD')).toMatch(
      /^ 2 files changed.*\n(a\.txt\n)?$/,
    );
  });

  test('whose cache was lost has its files and no history', async () => {
    const b = await newGrounded(s, FILES);
    await rm(b.dir, { recursive: true });
    await b.lose();
    const { runner } = s.service.ctx;
    await until('what is kept to be forgotten', async () => {
      await runner.forgetGroup(b.projectId);
      return !(await runner.groups()).includes(b.projectId);
    });
    expect(await b.exec('cat a.txt; test -e .git || echo none')).toBe('a\nnone\n');
  });
});

const SHA = '0123456789abcdef0123456789abcdef01234567';
const ODD = [
  { path: 'bin/tool', mode: '100755' as const, content: '#!/bin/sh\n' },
  ...Object.entries({
    link: 'a.txt',
    'src/up': '../a.txt',
    chain: 'src/up',
    folder: 'src/part-0',
    dangling: 'nowhere',
    abs: '/etc/passwd',
    out: '../outside',
    'src/far': '../../../x',
    'through-out': 'out/x',
    'through-abs': 'abs',
    loop: 'loop',
    one: 'two',
    two: 'one',
    'tab\there': 'a.txt',
  }).map(([path, content]) => ({ path, mode: '120000' as const, content })),
  { path: 'vendor/lib', mode: '160000' as const, content: SHA },
  { path: '.context/notes.md', content: 'n\n' },
  { path: 'same.txt', content: 'later\n' },
  { path: 'line\nbreak', content: 'x\n' },
  { path: Buffer.from('caf\xe9.txt', 'latin1'), content: 'x\n' },
  { path: '.gitmodules', content: '[submodule "lib"]\n\tpath = vendor/lib\n\turl = ext::touch pwned\n' },
  { path: 'hooks/post-checkout', mode: '100755' as const, content: '#!/bin/sh\ntouch /workspace/pwned\n' },
];
const HELD = {
  ...FILES,
  'Same.txt': 'earlier\n',
  '.gitmodules': ODD.find(({ path }) => path === '.gitmodules')!.content,
  'hooks/post-checkout': '#!/bin/sh\ntouch /workspace/pwned\n',
};

describe('what no source holds', () => {
  test('links that stay inside are there, all else is not, and git misses nothing', async () => {
    const b = await newGrounded(s, HELD, {
      odd: ODD.filter(({ path }) => !Object.hasOwn(HELD, String(path))),
    });
    expect(await b.exec(`find . -path ./.git -prune -o -type l -printf '%P>%l\\n' | sort; ${CLEAN}`)).toBe(
      'chain>src/up\ndangling>nowhere\nfolder>src/part-0\nlink>a.txt\nsrc/up>../a.txt\nclean\n',
    );
    expect(await b.exec('ls -A | sort | head -30; ls vendor .context 2>/dev/null | wc -l')).not.toMatch(
      /same\.txt|break|caf|pwned|[1-9]$/,
    );
  });

  test('changed, new and removed links are warnings; files in their place are files', async () => {
    const b = await newGrounded(s, HELD, {
      odd: ODD.filter(({ path }) => !Object.hasOwn(HELD, String(path))),
    });
    expect((await b.work('echo more >> a.txt; cat chain')).warnings).toEqual([]);
    const run = await b.work(
      'ln -sfn bin link; rm chain; ln -s a.txt new; rm folder; echo file > folder; rm dangling; mkdir dangling; echo f > dangling/f',
    );
    expect(run.warnings.map((w: { path: string; reason: string }) => `${w.path} ${w.reason}`).sort()).toEqual(
      ['chain symlink', 'link symlink', 'new symlink'],
    );
    const files = await b.files(await b.latest());
    expect([files['folder'], files['dangling/f'], files['a.txt']]).toEqual(['file\n', 'f\n', 'a\nmore\n']);
    await b.lose();
    expect(await b.exec('cat folder dangling/f; readlink link chain src/up')).toBe(
      'file\nf\na.txt\nsrc/up\n../a.txt\n',
    );
    expect((await b.work('true')).warnings).toEqual([]);
  });

  test('a file that an edit writes in the place of a link hides it until it is deleted', async () => {
    const b = await newGrounded(s, FILES, {
      odd: [{ path: 'src/link', mode: '120000', content: '../a.txt' }],
    });
    const edit = async (change: Record<string, unknown>) =>
      ok(
        s.call('POST', `${b.at}/edits`, {
          expectedSourceId: await b.latest(),
          changes: [{ path: 'src/link/file', ...change }],
        }),
      );
    expect(await b.exec('cat src/link; echo mine > own.log')).toBe('a\n');
    await edit({ content: 'f\n' });
    expect(await b.exec('cat src/link/file own.log')).toBe('f\nmine\n');
    await edit({ content: null });
    expect(await b.exec(`readlink src/link; cat own.log; ${CLEAN}`)).toBe('../a.txt\nmine\nclean\n');
    expect((await b.work('true')).warnings).toEqual([]);
  });
});
