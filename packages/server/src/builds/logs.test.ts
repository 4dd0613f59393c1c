/** A build's log is in order, and valid text wherever it is cut; no command waits for it. */
import { afterAll, describe, expect, test } from 'vitest';
import { commandsOf, hint, missing, runCommands } from '../guide.fixture.ts';
import { startTestServer } from '../service.fixture.ts';
import { newBench, until } from './builds.fixture.ts';
import { findLogPieces, LOG_BYTES, LOG_PAGE_BYTES } from '../logs/index.ts';

const server = await startTestServer();
afterAll(() => server.close());
const status = server.service.ctx.runnerStatus();
if (!status?.ok)
  process.stderr.write(`SKIPPED, no sandbox can be made here: ${status?.missing.join('; ')}\n`);
type Part = { text: string; byteSize: number; truncated: boolean; nextOffset: number; ended: boolean };
const MARK = '\n[The rest of the output was cut off.]\n';

describe.skipIf(!status?.ok)('the log', () => {
  test('is cut between characters, at its size', async () => {
    const bench = await newBench(server);
    // Characters of three bytes: the limit is within one of them.
    const { id } = await bench.submit('head -c 720000 /dev/zero | sed "s/\\x00/€/g"; mkdir dist');
    expect((await bench.ended(id)).status).toBe('ready');
    const { text, byteSize, truncated } = await bench.logs(id);
    const kept = text.slice(0, -MARK.length);
    expect([truncated, text.endsWith(MARK), byteSize, LOG_BYTES % 3]).toEqual([
      true,
      true,
      Buffer.byteLength(text),
      2,
    ]);
    expect([kept.length, kept.replaceAll('€', '')]).toEqual([Math.floor(LOG_BYTES / 3), '']);

    const parts: Part[] = [await bench.logs(id, '?offset=0')];
    while (!parts.at(-1)!.ended) parts.push(await bench.logs(id, `?offset=${parts.at(-1)!.nextOffset}`));
    expect(parts.map((part) => part.text).join('')).toBe(text);
    const sizes = parts.map((part) => Buffer.byteLength(part.text));
    expect(sizes.slice(0, -1)).toEqual(Array.from({ length: 8 }, () => LOG_PAGE_BYTES - 1));
    expect(parts.every((part) => part.byteSize === byteSize && part.truncated)).toBe(true);
    expect(parts.at(-1)!.nextOffset).toBe(byteSize);
    // It begins within a character, and would end within one.
    const part = await bench.logs(id, '?offset=100000');
    expect([part.text, part.nextOffset]).toEqual(['€'.repeat(87_380), 100_002 + 3 * 87_380]);
    // A part is read without the rest of the log, and the log has no long pieces.
    const pieces = await findLogPieces(server.service.ctx.db, { kind: 'build', id }, 1_000_000, 1_000_003);
    expect(pieces.reduce((sum, { content }) => sum + Buffer.byteLength(content), 0)).toBeLessThanOrEqual(
      2 * 64 * 1024,
    );
  });

  test('is read from an offset on, as JSON and as text; after its end there is nothing', async () => {
    const bench = await newBench(server);
    const { id } = await bench.submit('echo "first ä€😀"; echo second; mkdir dist');
    await bench.ended(id);
    const whole = await bench.logs(id);
    const bytes = Buffer.from('first ä€😀\nsecond\n');
    const { length: byteSize } = bytes;
    expect(whole).toEqual({
      text: bytes.toString(),
      byteSize,
      truncated: false,
      nextOffset: byteSize,
      ended: true,
    });
    for (const [offset, from] of [
      [0, 0],
      [6, 6],
      // Within ä, € and the face.
      [7, 8],
      [9, 11],
      [12, 15],
      [byteSize, byteSize],
    ] as const) {
      const text = bytes.toString('utf8', from);
      expect(await bench.logs(id, `?offset=${offset}`)).toEqual({ ...whole, text });
      for (const path of [`${bench.url}/builds`, `/api/projects/${bench.appId}/builds`]) {
        const answer = await server.call('GET', `${path}/${id}/logs?offset=${offset}`, undefined, {
          headers: { accept: 'text/plain' },
        });
        expect([answer.text, answer.headers.get('content-type')]).toEqual([
          text,
          'text/plain; charset=utf-8',
        ]);
      }
    }
    expect(await bench.logs(id, '?offset=1000&waitSeconds=30')).toEqual({
      ...whole,
      text: '',
      nextOffset: 1000,
    });
    for (const [name, value] of [
      ['offset', '-1'],
      ['offset', '1.5'],
      ['offset', 'x'],
      ['offset', '9007199254740993'],
      ['waitSeconds', '31'],
      ['waitSeconds', '-1'],
    ] as const) {
      const { status, body } = await server.call('GET', `${bench.url}/builds/${id}/logs?${name}=${value}`);
      expect([status, body.error.fields[0].path]).toEqual([400, `/query/${name}`]);
    }
  });

  test('is followed: each wait ends with what is new, the last one with the build', async () => {
    const bench = await newBench(server);
    const { id } = await bench.submit('echo one; sleep 1.5; echo two; mkdir dist');
    const parts: Part[] = [];
    for (let offset = 0; !parts.at(-1)?.ended; offset = parts.at(-1)!.nextOffset)
      parts.push(await bench.logs(id, `?offset=${offset}&waitSeconds=20`));
    expect(parts.map((part) => part.text).join('')).toBe('one\ntwo\n');
    expect(parts[0]).toMatchObject({ text: 'one\n', nextOffset: 4, ended: false });
    expect(parts.filter((part) => part.text === '' && !part.ended)).toEqual([]);
  });

  test.skipIf(missing.length > 0)(`is followed by the commands of the guide${hint}`, async () => {
    const bench = await newBench(server);
    const { id } = await bench.submit('echo "one ä"; sleep 1; echo two; mkdir dist');
    const [, commands] = commandsOf('builds.md');
    const env = { HEADRACE: server.base, KEY: server.key, APP: bench.appId, BUILD: id };
    expect(await runCommands(commands!, env)).toBe('one ä\ntwo\n');
  });

  test('a wait ends in time if nothing is printed', async () => {
    const bench = await newBench(server);
    const { id } = await bench.submit('sleep 20; mkdir dist');
    await bench.started(id);
    const began = Date.now();
    expect(await bench.logs(id, '?waitSeconds=1')).toMatchObject({ text: '', nextOffset: 0, ended: false });
    expect(Date.now() - began).toBeGreaterThan(950);
    expect((await server.call('POST', `${bench.url}/builds/${id}/cancel`, {})).status).toBe(202);
    expect(await bench.logs(id, '?waitSeconds=20')).toMatchObject({ text: '', ended: true });
  });

  test('joins characters that come in pieces, marks what is no text, and grows while the command runs', async () => {
    const bench = await newBench(server);
    const { id } = await bench.submit(
      String.raw`printf '\342\202'; sleep 0.1; printf '\254 \377|'; sleep 1; for i in 1 2 3; do echo out$i; sleep 0.1; echo err$i >&2; sleep 0.1; done; printf '\360\237\230'; mkdir dist`,
    );
    await until(async () => (await bench.logs(id)).text === '€ \u{fffd}|');
    expect((await bench.read(id)).status).toBe('building');
    expect((await bench.ended(id)).status).toBe('ready');
    const { text, byteSize, truncated } = await bench.logs(id);
    expect([text, byteSize, truncated]).toEqual([
      '€ \u{fffd}|out1\nerr1\nout2\nerr2\nout3\nerr3\n\u{fffd}',
      Buffer.byteLength(text),
      false,
    ]);
  });

  test('holds up no command, however much that prints; the output is in the log alone', async () => {
    const bench = await newBench(server);
    const { id } = await bench.submit(
      'yes 0123456789 | head -c 60000000; yes failed | head -c 60000000 >&2; mkdir dist',
    );
    expect((await bench.ended(id)).status).toBe('ready');
    const { text, truncated } = await bench.logs(id);
    expect([text.slice(0, 22), truncated, Buffer.byteLength(text)]).toEqual([
      '0123456789\n0123456789\n',
      true,
      LOG_BYTES + MARK.length,
    ]);
    const events = (await server.call('GET', `${bench.url}/events?limit=200`)).text;
    expect([events.includes('0123456789'), events.includes('60000000')]).toEqual([false, false]);
    const silent = await bench.ended((await bench.submit('mkdir dist')).id);
    const nothing = { text: '', byteSize: 0, truncated: false, nextOffset: 0, ended: true };
    expect(await bench.logs(silent.id)).toEqual(nothing);
  });
});
