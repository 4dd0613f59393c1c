import { rm } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newId } from '../../ids.ts';
import { startTestServer } from '../../service.fixture.ts';
import type { TestServer } from '../../service.fixture.ts';
import { sh } from '../../threads/threads.fixture.ts';
import { newGrounded } from './history.fixture.ts';
import type { Grounded } from './history.fixture.ts';

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
const latest = async (b: Grounded): Promise<string> => (await b.thread()).latestSourceId;

async function pullRequest(b: Grounded, headSha: string, headSourceId: string): Promise<void> {
  const { db } = s.service.ctx;
  const { org_id, created_by: by } = await db
    .selectFrom('threads')
    .select(['org_id', 'created_by'])
    .where('id', '=', b.threadId)
    .executeTakeFirstOrThrow();
  await db
    .insertInto('pull_requests')
    .values({
      org_id,
      id: newId('pr'),
      project_id: b.appId,
      thread_id: b.threadId,
      repository_id: b.repositoryId,
      number: 1,
      url: 'http://localhost/1',
      repo_full_name: 'r',
      title: 'T',
      state: 'open',
      head_ref: 'h',
      head_sha: headSha,
      base_ref: 'main',
      head_source_id: headSourceId,
      created_by: by ?? 'sa_1',
    })
    .execute();
}

describe('a workspace upon a commit', () => {
  test('has its history on a branch work, cut off, without a remote, and is clean', async () => {
    const b = await newGrounded(s, FILES, { before: 60 });
    expect(
      await b.exec(
        `git branch --show-current; git rev-list --count HEAD; git log -2 --format=%s; git rev-parse --abbrev-ref origin/main; test "$(git rev-parse HEAD)" = "$(git rev-parse refs/remotes/origin/main)" && echo same; git remote; git fsck 2>&1; git config --local --get-regexp 'remote|url|http' || ${CLEAN}`,
      ),
    ).toBe('work\n50\nBase\nStep 60\norigin/main\nsame\nclean\n');
    expect(await latest(b)).toBe(b.sourceId);
    const run = await b.work(
      sh('echo b > b.txt; git add b.txt; git commit -qm Mine; echo c > c.txt; echo x > x.log'),
    );
    expect(run.warnings).toEqual([]);
    expect(await b.files(await latest(b))).toEqual({ ...FILES, 'b.txt': 'b\n', 'c.txt': 'c\n' });
  });

  test('is made once; another restore, and a draft upon it, show the same history', async () => {
    const b = await newGrounded(s, FILES);
    const { runner } = s.service.ctx;
    const { putHistory } = runner;
    let made = 0;
    runner.putHistory = (...args) => {
      made++;
      return putHistory(...args);
    };
    try {
      expect(await b.exec(CLEAN)).toBe('clean\n');
      // As long as before, so that only a look inside shows the difference.
      await b.work(sh('echo A > a.txt; rm src/part-0/0.txt; mv src/part-1 moved; chmod +x src/part-2/2.txt'));
      const status = await b.exec('git status --porcelain | sort');
      expect(status).toContain(' M a.txt\n');
      await b.lose();
      expect(await b.exec('git status --porcelain | sort')).toBe(status);
      await b.work(sh('echo again > b.txt'));
      await b.lose();
      expect(await b.exec('git status --porcelain | grep -v b.txt | sort')).toBe(status);
    } finally {
      runner.putHistory = putHistory;
    }
    expect(made).toBe(1);
  });

  test('shows the newest commit of the pull request of its thread', async () => {
    const b = await newGrounded(s, FILES);
    await b.work(sh('echo b > b.txt; echo A > a.txt'));
    const pushed = await latest(b);
    const sha = await b.commit(
      Object.entries({ ...FILES, 'b.txt': 'b\n', 'a.txt': 'A\n' }).map(([path, content]) => ({
        path,
        content,
      })),
      'Pushed',
    );
    await pullRequest(b, sha, pushed);
    await b.lose();
    expect(await b.exec(`git log --format=%s; git log -1 --format=%s origin/main; ${CLEAN}`)).toBe(
      'Pushed\nBase\nBase\nclean\n',
    );
    // A draft that goes back to what the base had is a change now, though it was none before.
    await b.work(sh('echo a > a.txt'));
    await b.lose();
    expect(await b.exec('git status --porcelain')).toBe(' M a.txt\n');
  });

  test('whose cache was lost has its files and no history', async () => {
    const b = await newGrounded(s, FILES);
    await rm(b.dir, { recursive: true });
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
  { path: 'A.TXT', content: 'A\n' },
  { path: 'line\nbreak', content: 'x\n' },
  { path: Buffer.from('caf\xe9.txt', 'latin1'), content: 'x\n' },
  { path: '.gitmodules', content: '[submodule "lib"]\n\tpath = vendor/lib\n\turl = ext::touch pwned\n' },
  { path: 'hooks/post-checkout', mode: '100755' as const, content: '#!/bin/sh\ntouch /workspace/pwned\n' },
];
const HELD = {
  ...FILES,
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
      /A\.TXT|break|caf|pwned|[1-9]$/,
    );
  });

  test('changed, new and removed links are warnings; files in their place are files', async () => {
    const b = await newGrounded(s, HELD, {
      odd: ODD.filter(({ path }) => !Object.hasOwn(HELD, String(path))),
    });
    expect((await b.work(sh('echo more >> a.txt; cat chain'))).warnings).toEqual([]);
    const run = await b.work(
      sh(
        'ln -sfn bin link; rm chain; ln -s a.txt new; rm folder; echo file > folder; rm dangling; mkdir dangling; echo f > dangling/f',
      ),
    );
    expect(run.warnings.map((w: { path: string; reason: string }) => `${w.path} ${w.reason}`).sort()).toEqual(
      ['chain symlink', 'link symlink', 'new symlink'],
    );
    const files = await b.files(await latest(b));
    expect([files['folder'], files['dangling/f'], files['a.txt']]).toEqual(['file\n', 'f\n', 'a\nmore\n']);
    await b.lose();
    expect(await b.exec('cat folder dangling/f; readlink link chain src/up')).toBe(
      'file\nf\na.txt\nsrc/up\n../a.txt\n',
    );
    expect((await b.work(sh('true'))).warnings).toEqual([]);
  });

  test('a workspace that goes on gets the links of the commit that its thread takes over', async () => {
    const b = await newGrounded(s, FILES, {
      odd: [
        { path: 'gone', mode: '120000', content: 'a.txt' },
        { path: 'kept', mode: '120000', content: 'a.txt' },
      ],
    });
    expect(await b.exec('cat gone kept; echo mine > own.log')).toBe('a\na\n');
    const theirs = { ...FILES, 'b.txt': 'b\n' };
    const { body } = await s.call('POST', `${b.app}/sources`, {
      files: Object.entries(theirs).map(([path, content]) => ({ path, content })),
    });
    const sha = await b.commit([
      ...Object.entries(theirs).map(([path, content]) => ({ path, content })),
      { path: 'kept', mode: '120000', content: 'b.txt' },
      { path: 'src/new', mode: '120000', content: '../b.txt' },
    ]);
    const { db } = s.service.ctx;
    const sourceId = body.source.id as string;
    await db.updateTable('sources').set({ commit_sha: sha }).where('id', '=', sourceId).execute();
    await db
      .updateTable('threads')
      .set({ latest_source_id: sourceId })
      .where('id', '=', b.threadId)
      .execute();
    await pullRequest(b, sha, sourceId);
    expect(await b.exec('cat kept src/new own.log; test -L gone || echo none')).toBe('b\nb\nmine\nnone\n');
    expect((await b.work(sh('true'))).warnings).toEqual([]);
  });
});
