/** A build's log is in order, and valid text wherever it is cut; no command waits for it. */
import { afterAll, describe, expect, test } from 'vitest';
import { startTestServer } from '../service.fixture.ts';
import { newBench, until } from './builds.fixture.ts';
import { LOG_BYTES } from './schemas.ts';

const server = await startTestServer();
afterAll(() => server.close());
const status = server.service.ctx.runnerStatus();
if (!status?.ok)
  process.stderr.write(`SKIPPED, no sandbox can be made here: ${status?.missing.join('; ')}\n`);
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
    expect(await bench.logs(silent.id)).toEqual({ text: '', byteSize: 0, truncated: false });
  });
});
