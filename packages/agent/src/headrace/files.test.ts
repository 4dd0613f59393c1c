import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Bench, script, type Agent } from './headrace.fixture.ts';

let bench: Bench;
let agent: Agent;
beforeAll(async () => {
  bench = await Bench.open();
  agent = await (await bench.start()).open();
});
afterAll(() => bench.close());

const content = (path: string) => readFileSync(join(bench.root, path), 'utf8');
async function made(tool: string, input: object) {
  await agent.prompt(script([{ call: [{ tool, input }] }]));
  const call = agent.calls.at(-1)!;
  return { output: call.output, isError: call.statuses.at(-1) === 'failed', isCut: call.isCut };
}

describe('read', () => {
  it('shows lines by number, in ranges and cut', async () => {
    bench.write('lines.txt', Array.from({ length: 5000 }, (_, i) => `line ${i + 1}\n`).join(''));
    expect(await made('read', { path: 'lines.txt', offset: 4999 })).toMatchObject({
      output: ' 4999\tline 4999\n 5000\tline 5000',
      isCut: false,
    });
    expect((await made('read', { path: `${bench.root}/lines.txt`, offset: 2, limit: 1 })).output).toBe(
      '    2\tline 2\n[lines 2-2 of 5000; go on with offset 3]',
    );
    const whole = await made('read', { path: 'lines.txt' });
    expect(whole.output).toMatch(/ 2000\tline 2000\n\[lines 1-2000 of 5000; go on with offset 2001\]$/);
    expect(whole.isCut).toBe(true);
    expect((await made('read', { path: 'lines.txt', offset: 6000 })).output).toBe(
      'lines.txt has 5000 lines only',
    );
    bench.write('wide.txt', 'w'.repeat(9000));
    expect((await made('read', { path: 'wide.txt' })).output).toMatch(/w\[… 7000 more characters\]$/);
  });

  it('ignores fields that it does not know, with a note', async () => {
    bench.write('known.txt', 'one\n');
    expect(await made('read', { path: 'known.txt', view_range: [1, 2], why: 'x' })).toMatchObject({
      output: '    1\tone\n[ignored, not known: `view_range`, `why`. Fields: path, offset, limit.]',
      isError: false,
    });
    expect(await made('read', { path: 'a', limit: 'x', why: 'y' })).toMatchObject({
      output: expect.stringContaining('`limit` has to be a whole number, `why` is not known. Fields: path'),
      isError: true,
    });
  });

  it('says what is no text', async () => {
    bench.write('data.bin', Buffer.from([1, 0, 2]));
    bench.write('empty', '');
    expect((await made('read', { path: 'data.bin' })).output).toBe(
      'data.bin is a binary file of 3 bytes; it is not shown.',
    );
    expect((await made('read', { path: 'empty' })).output).toBe('empty is empty.');
    expect(await made('read', { path: 'none' })).toMatchObject({
      output: 'none: no such file',
      isError: true,
    });
    expect((await made('read', { path: '.' })).output).toContain('is a folder');
    expect((await made('read', { path: '/dev/zero' })).output).toBe('/dev/zero: not a regular file');
  });
});

describe('write, edit and patch', () => {
  it('write whole files, keep the mode, and make folders', async () => {
    expect((await made('write', { path: './deep/er/new.txt', content: 'ä\n' })).output).toBe(
      'Added deep/er/new.txt (3 bytes).',
    );
    chmodSync(join(bench.root, 'deep/er/new.txt'), 0o755);
    expect((await made('write', { path: 'deep/er/new.txt', content: '' })).output).toBe(
      'Replaced deep/er/new.txt (0 bytes).',
    );
    expect(statSync(join(bench.root, 'deep/er/new.txt')).mode & 0o777).toBe(0o755);
  });

  it('replaces what is there once, and says how often it is', async () => {
    bench.write('e.txt', 'one two\ntwo three\n$& ü\n');
    expect(await made('edit', { path: 'e.txt', old: 'two', new: 'x' })).toMatchObject({
      isError: true,
      output: expect.stringContaining('found 2 times'),
    });
    expect((await made('edit', { path: 'e.txt', old: 'zwei', new: 'x' })).output).toContain(
      'found 0 times. Read',
    );
    expect((await made('edit', { path: 'e.txt', old: 'one  two', new: 'x' })).output).toContain(
      'found 0 times; it is there with other spaces',
    );
    expect(content('e.txt')).toBe('one two\ntwo three\n$& ü\n');
    await made('edit', { path: 'e.txt', old: '$& ü', new: '$` ö' });
    await made('edit', { path: 'e.txt', old_string: 'two', new_string: '2', replace_all: true });
    expect(content('e.txt')).toBe('one 2\n2 three\n$` ö\n');
  });

  it('keep CRLF and bytes that are no UTF-8', async () => {
    bench.write('crlf.txt', 'a\r\nb\r\nc\r\n');
    await made('edit', { path: 'crlf.txt', old: 'a\nb', new: 'a\nB' });
    expect(content('crlf.txt')).toBe('a\r\nB\r\nc\r\n');
    bench.write('latin.txt', Buffer.from([0xe9, 0x20, 0x61, 0x0a]));
    await made('edit', { path: 'latin.txt', old: 'a', new: 'ä' });
    expect([...readFileSync(join(bench.root, 'latin.txt'))]).toEqual([0xe9, 0x20, 0xc3, 0xa4, 0x0a]);
  });

  it('applies both kinds of patches, all of them or nothing', async () => {
    bench.write('p.txt', 'a\nb\nc\n');
    expect(
      (
        await made('patch', {
          patch:
            '*** Begin Patch\n*** Update File: p.txt\n@@\n-b\n+B\n*** Add File: q.txt\n+q\n*** End Patch',
        })
      ).output,
    ).toBe('Done: changed p.txt, added q.txt.');
    expect(
      (await made('patch', { patch: '--- a/p.txt\n+++ b/p.txt\n@@ -1,3 +1,3 @@\n-a\n+A\n B\n c' })).output,
    ).toBe('Done: changed p.txt.');
    expect(content('p.txt')).toBe('A\nB\nc\n');
    expect(
      await made('patch', {
        patch:
          '*** Begin Patch\n*** Update File: p.txt\n@@\n-A\n+x\n*** Delete File: none.txt\n*** End Patch',
      }),
    ).toMatchObject({ isError: true });
    expect(content('p.txt')).toBe('A\nB\nc\n');
  });

  it('never leave the workspace', async () => {
    const outside = bench.folderOf('outside');
    bench.write('secret.txt', 'secret\n', outside);
    symlinkSync(outside, join(bench.root, 'link'));
    for (const path of [
      '../outside/secret.txt',
      '/etc/x',
      `${outside}/secret.txt`,
      'link/secret.txt',
      'link/new.txt',
      `${bench.root}/../outside/secret.txt`,
      '.',
      '',
    ]) {
      expect(await made('write', { path, content: 'x' })).toMatchObject({ isError: true });
      expect(await made('edit', { path, old: 'secret', new: 'x' })).toMatchObject({ isError: true });
      expect(
        await made('patch', {
          patch: `*** Begin Patch\n*** Update File: ${path}\n@@\n-secret\n+x\n*** End Patch`,
        }),
      ).toMatchObject({ isError: true });
    }
    expect(readFileSync(join(outside, 'secret.txt'), 'utf8')).toBe('secret\n');
    expect(existsSync(join(outside, 'new.txt'))).toBe(false);
  });
});

describe('list and search', () => {
  beforeAll(() => {
    bench.write('tree/a.ts', 'const Alpha = 1;\nconst beta = 2;\n');
    bench.write('tree/sub/b.ts', 'alpha()\n');
    bench.write('tree/sub/deep/c.md', 'alpha\n');
    bench.write('tree/node_modules/x/index.ts', 'alpha\n');
    bench.write('tree/.git/config', 'alpha\n');
    bench.write('tree/bin', Buffer.from('alpha\0'));
    mkdirSync(join(bench.root, 'tree/none'));
  });

  it('name what is there, to a depth or by a pattern', async () => {
    expect((await made('list', { path: 'tree' })).output.split('\n')).toEqual([
      'tree/.git/',
      'tree/a.ts',
      'tree/bin',
      'tree/node_modules/',
      'tree/none/',
      'tree/sub/',
      'tree/sub/b.ts',
      'tree/sub/deep/',
    ]);
    expect((await made('list', { path: 'tree', pattern: '*.ts' })).output).toBe('tree/a.ts\ntree/sub/b.ts');
    expect((await made('list', { path: 'none' })).isError).toBe(true);
  });

  it('find lines', async () => {
    expect((await made('search', { pattern: '^al\\w+', path: 'tree' })).output).toBe(
      'tree/sub/b.ts:1: alpha()\ntree/sub/deep/c.md:1: alpha',
    );
    expect(
      (await made('search', { pattern: 'alpha', path: 'tree', glob: '*.ts', ignore_case: true })).output,
    ).toBe('tree/a.ts:1: const Alpha = 1;\ntree/sub/b.ts:1: alpha()');
    expect((await made('search', { pattern: 'beta', path: 'tree/a.ts' })).output).toBe(
      'tree/a.ts:2: const beta = 2;',
    );
    expect((await made('search', { pattern: 'nowhere$', path: 'tree' })).output).toBe('No line matches.');
    expect(await made('search', { pattern: '(' })).toMatchObject({
      isError: true,
      output: expect.stringContaining('Unterminated group'),
    });
  });

  it('show a bounded number', async () => {
    bench.write('many/x.txt', 'hit\n'.repeat(5000));
    const found = await made('search', { pattern: 'hit', path: 'many' });
    expect(found.isCut).toBe(true);
    expect(found.output.split('\n')).toHaveLength(301);
  });
});
