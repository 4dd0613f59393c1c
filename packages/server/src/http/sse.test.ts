import { createServer, get } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { openSse, sseFrame } from './sse.ts';

test('frames of long characters drain', async () => {
  const answers: boolean[] = [];
  const server = createServer(
    (_req, res) =>
      void (async () => {
        const stream = openSse(res, {});
        for (let i = 0; i < 200; i++) {
          stream.send(sseFrame('message', '€'.repeat(22_000)));
          answers.push(await stream.drained(3_000));
        }
        stream.end();
      })(),
  );
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  onTestFinished(() => {
    server.close();
  });
  const text = await new Promise<string>((resolve, reject) => {
    get({ port: (server.address() as AddressInfo).port, host: '127.0.0.1' }, (res) => {
      let all = '';
      res
        .setEncoding('utf8')
        .on('data', (part: string) => {
          all += part;
        })
        .on('end', () => resolve(all))
        .on('error', reject);
    }).on('error', reject);
  });
  expect(answers).toEqual(Array(200).fill(true));
  expect(text.match(/€/g)).toHaveLength(200 * 22_000);
});
