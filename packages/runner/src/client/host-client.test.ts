/** What a host answers is held against its protocol. */
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createHostClient } from './host-client.ts';

let dir: string;
let server: Server;
let answers: Record<string, string>;
const client = () => createHostClient({ socketPath: join(dir, 's'), prefix: '/hst_1' });

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'host-client-'));
  answers = {};
  server = createServer((req, res) => res.end(answers[`${req.method} ${req.url}`] ?? '{}'));
  await new Promise<void>((resolve) => server.listen(join(dir, 's'), resolve));
});
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  rmSync(dir, { recursive: true });
});

const STATUS = {
  version: '1',
  providers: ['agent_a'],
  share: 'owner',
  bindings: [],
  tasks: [],
  workspaces: [],
};

test('calls go to the host that the prefix names', async () => {
  answers['GET /hst_1/status'] = JSON.stringify(STATUS);
  expect(await client().hostStatus()).toEqual(STATUS);
});

test.each([
  ['an unknown provider', { ...STATUS, providers: ['agent_c'] }],
  [
    'a binding without a name',
    { ...STATUS, bindings: [{ name: '', workspaceModes: [], isGit: false, branch: null }] },
  ],
  ['nothing', {}],
])('a status with %s is none', async (_, status) => {
  answers['GET /hst_1/status'] = JSON.stringify(status);
  await expect(client().hostStatus()).rejects.toMatchObject({ status: 502, code: 'wrong_answer' });
});

test('a capture, a task and a commit that are none are refused', async () => {
  const wrong = { status: 502, code: 'wrong_answer' };
  answers['POST /hst_1/workspaces/thr_1/capture'] = JSON.stringify({ files: [{ path: 1 }], warnings: [] });
  answers['PUT /hst_1/workspaces/thr_1'] = JSON.stringify({ headCommit: 'main' });
  await expect(client().capture('thr_1', [])).rejects.toMatchObject(wrong);
  await expect(client().task('run_1')).rejects.toMatchObject(wrong);
  await expect(
    client().prepare('thr_1', { binding: 'a', mode: 'direct', branch: 'headrace/abcdef' }),
  ).rejects.toMatchObject(wrong);
});

test('a journal whose entries are none, or are told twice, breaks off', async () => {
  const entry = (offset: number, more: object = { type: 'text', content: 'a' }) =>
    `${JSON.stringify({ offset, at: '2026-01-01T00:00:00.000Z', ...more })}\n`;
  const read = async () => {
    const seen = [];
    for await (const { offset } of client().journal('run_1')) seen.push(offset);
    return seen;
  };
  const at = 'GET /hst_1/tasks/run_1/journal?from=0';
  answers[at] = `${entry(0)}${entry(1, { type: 'tool', toolCallId: 5 })}`;
  await expect(read()).rejects.toMatchObject({ code: 'wrong_answer' });
  answers[at] = `${entry(0)}${entry(0)}`;
  await expect(read()).rejects.toMatchObject({ code: 'wrong_answer' });
});
