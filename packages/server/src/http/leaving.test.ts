import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestServer } from '../service.fixture.ts';
import type { TestServer } from '../service.fixture.ts';

const CALLERS = 8;
let s: TestServer;
beforeAll(async () => {
  s = await startTestServer({ HEADRACE_ROLES: 'api' });
});
afterAll(async () => {
  await s?.close();
});

/** The status and the header `connection` of an answer. */
const ask = (agent: Agent, path: string): Promise<string> =>
  new Promise((resolve, reject) => {
    request(`${s.base}${path}`, { agent, headers: { 'x-api-key': s.key } }, (answer) => {
      answer.resume().on('end', () => resolve(`${answer.statusCode} ${answer.headers.connection}`));
    })
      .on('error', reject)
      .end();
  });

test('callers with connections of their own are told that these end, and lose no request', async () => {
  const { id } = (await s.call('POST', '/api/platform/v1/apps', { name: 'n' })).body.app;
  const path = `/api/platform/v1/apps/${id}`;
  const callers = Array.from({ length: CALLERS }, async (_, i) => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const answers: string[] = [];
    while (answers.at(-1) !== '200 close') {
      answers.push(await ask(agent, path));
      await sleep(i * 5);
    }
    agent.destroy();
    return answers;
  });
  await sleep(100);
  await s.service.leave();
  const stopping = s.service.stop();
  for (const answers of await Promise.all(callers)) {
    expect(answers.length).toBeGreaterThan(1);
    expect(new Set(answers.slice(0, -1))).toEqual(new Set(['200 keep-alive']));
  }
  await stopping;
});
