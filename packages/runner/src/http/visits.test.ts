import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { describe, expect, test, vi } from 'vitest';
import { makeBench, tarStream } from '../runner.fixture.ts';
import { serve } from './server.fixture.ts';

const bench = await makeBench();

/** Answers each connection, and never ends one. */
const APP = `require('net').createServer({ allowHalfOpen: true }, (socket) => {
  socket.on('error', () => {}).on('data', () => {});
  socket.write('hello');
}).listen(8080)`;

describe.skipIf(!bench)('a preview whose server leaves connections half open', () => {
  test('costs its visitors no descriptors for long, and has a bounded number of them', async () => {
    const { client, use } = await serve(bench!);
    const { task } = bench!.tasks.start('prv_half', {
      kind: 'preview',
      command: 'node app.js',
      port: 8080,
      timeoutMs: 60_000,
    });
    await task.putSource(tarStream({ 'app.js': APP }));
    for await (const { type } of task.journal.read(0, new AbortController().signal))
      if (type === 'listening') break;
    const visit = async () => {
      const visitor = await client.connect('prv_half');
      await once(visitor, 'data');
      visitor.destroy();
    };
    await visit();
    const descriptors = () => readdirSync('/proc/self/fd').length;
    const before = descriptors();
    const answers: PromiseSettledResult<void>[] = [];
    for (let batch = 0; batch < 30; batch++)
      answers.push(...(await Promise.allSettled(Array.from({ length: 20 }, visit))));
    const refused = answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason] : []));
    expect(refused.length).toBeGreaterThan(50);
    expect(refused[0]).toMatchObject({ status: 429, code: 'too_many_visitors' });
    expect(descriptors()).toBeGreaterThan(before + 500);
    await vi.waitFor(() => expect(descriptors()).toBeLessThanOrEqual(before + 5), {
      timeout: 20_000,
      interval: 100,
    });
    await visit();
    await vi.waitFor(() => expect(use.underWay).toBe(0), { timeout: 20_000 });
    await bench!.tasks.remove('prv_half');
  }, 60_000);
});
