import { createHash, randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { collect } from '../../../packages/runner/src/sandbox/collect.ts';
import { MEBI, type Subject } from './subject.ts';

const BIG = 20_000_000,
  LATE_MS = 5000;

export function streamCases({ start, run, said }: Subject): void {
  test('words reach its command as they are', async () => {
    const words = [
      '',
      ' ',
      'a b',
      "it's",
      '"',
      '$HOME',
      '`id`',
      '$(id)',
      '\\n',
      'line\nbreak',
      'ä',
      '-x',
      '--',
      '*',
      ';',
      '&',
      '{}',
      '!',
    ];
    expect(
      JSON.parse(await said(['node', '-p', 'JSON.stringify(process.argv.slice(1))', '--', ...words])),
    ).toEqual(words);
    expect(() => start(['echo', 'a\0b'])).toThrow(expect.objectContaining({ status: 400 }) as Error);
  });

  test('what it prints comes apart by its streams', async () => {
    expect(await run('echo out; echo err >&2; echo out2')).toMatchObject({
      stdout: Buffer.from('out\nout2\n'),
      stderr: 'err\n',
      code: 0,
    });
  });

  test('any bytes go in, and an end; what is written before it runs is not lost', async () => {
    const bytes = randomBytes(3 * MEBI);
    for (let i = 0; i < 1000; i++) bytes.set([0x10, 0x11], i * 3000); // what detaches from a terminal
    const sandbox = start('sha256sum');
    sandbox.stdin.end(bytes);
    const { stdout, code } = await collect(sandbox, { maxBytes: 1000, timeoutMs: 20_000 });
    expect([stdout.toString().slice(0, 64), code]).toEqual([
      createHash('sha256').update(bytes).digest('hex'),
      0,
    ]);
  });

  test('answers while its input is open', async () => {
    const sandbox = start('while read -r line; do echo "got $line"; done; echo end');
    const lines = sandbox.stdout.setEncoding('utf8').iterator() as AsyncIterator<string>;
    const next = async (): Promise<string> => (await lines.next()).value as string;
    sandbox.stdin.write('one\n');
    expect(await next()).toBe('got one\n');
    sandbox.stdin.end('two\n');
    let rest = '';
    for (let { value, done } = await lines.next(); !done; { value, done } = await lines.next()) rest += value;
    expect(rest).toBe('got two\nend\n');
    expect((await sandbox.exited).code).toBe(0);
  });

  test('whatever it prints comes whole, however slowly it is read', async () => {
    const sandbox = start(`head -c ${BIG} /dev/zero; echo done >&2`);
    sandbox.stdin.end();
    sandbox.stderr.resume();
    let size = 0,
      most = 0;
    for await (const part of sandbox.stdout as AsyncIterable<Buffer>) {
      size += part.length;
      most = Math.max(most, sandbox.stdout.readableLength);
      if (size < 2_000_000) await sleep(5);
    }
    expect([size, (await sandbox.exited).code]).toEqual([BIG, 0]);
    expect(most).toBeLessThan(4 * MEBI);
  });

  test('last words are there for whoever reads them late', async () => {
    const sizes = [200_000, 700_000, 1_200_000, 1_500_000];
    const read = await Promise.all(
      sizes.map(async (size) => {
        const sandbox = start(`head -c ${size} /dev/zero`);
        await sleep(LATE_MS);
        sandbox.stderr.resume();
        let got = 0;
        for await (const part of sandbox.stdout as AsyncIterable<Buffer>) got += part.length;
        return got;
      }),
    );
    expect(read).toEqual(sizes);
  });

  test('its end does not wait for whoever does not read', async () => {
    expect((await start('head -c 50000 /dev/zero; head -c 50000 /dev/zero >&2').exited).code).toBe(0);
  });
}
