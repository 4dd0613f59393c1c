import { createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { JournalEntry, TurnRequest } from '../protocol.ts';
import { endOf, entriesOf, makeBench, scratch, tarStream } from '../runner.fixture.ts';
import { fakeAgent } from './fake-agent.fixture.ts';
import type { Task } from './task.ts';

const bench = await makeBench();
const folder = scratch();
let counter = 0;

/**
 * A worker's gateway: answers each connection's first bytes by `answer`, and records the line before them.
 */
async function gateway(
  answer: (socket: Socket, said: string) => void,
): Promise<{ path: string; server: Server }> {
  const path = join(folder, `g${++counter}`);
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on('error', () => {});
    let said = '';
    socket.setEncoding('utf8').on('data', (part: string) => {
      said += part;
      if (said.includes('\r\n\r\n')) {
        answer(socket, said);
        said = '';
      }
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(path, resolve);
  });
  onTestFinished(() => {
    server.close();
  });
  return { path, server };
}

const ok = (socket: Socket, body: string): void => {
  socket.end(
    `HTTP/1.1 200 OK\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
  );
};
/** Fetches at its prompt and replies with the answer. */
const FETCH =
  "on['session/prompt'] = async () => { const r = await fetch('http://127.0.0.1:4401/x/v1/messages', { method: 'POST', body: 'question' }); text(await r.text()); return { stopReason: 'end_turn' }; };";

async function start(more: Partial<TurnRequest> = {}): Promise<Task> {
  const id = `thr_${++counter}`;
  await bench!.workspaces.put(id, tarStream({}));
  return bench!.tasks.start(`run_${counter}`, {
    kind: 'turn',
    workspaceId: id,
    agent: fakeAgent(FETCH),
    prompt: 'x',
    permissions: 'allow',
    timeoutMs: 30_000,
    gateway: true,
    ...more,
  }).task;
}
const replyOf = (entries: JournalEntry[]): string =>
  entries.flatMap((e) => (e.type === 'text' ? [e.content] : [])).at(-1) ?? '';

describe.skipIf(!bench)('the model gateway', () => {
  test('is reached from a sandbox, and told whose call it is before the call', async () => {
    let heard = '';
    const { path } = await gateway((socket, said) => {
      heard = said;
      ok(socket, 'answer');
    });
    bench!.gateways.register('w1', path);
    const task = await start();
    const entries = await entriesOf(task);
    expect([endOf(entries).error, replyOf(entries)]).toEqual([null, 'answer']);
    expect(heard).toMatch(new RegExp(`^task ${task.id}\nPOST /x/v1/messages HTTP/1.1\r\n`));
  });

  test('that has died is passed over for one that lives; the newest goes first', async () => {
    const old = await gateway((socket) => ok(socket, 'old'));
    const dead = await gateway(() => {});
    bench!.gateways.register('w2', old.path);
    bench!.gateways.register('w3', dead.path);
    await new Promise((resolve) => {
      dead.server.close(resolve);
    });
    expect(replyOf(await entriesOf(await start()))).toBe('old');
    const young = await gateway((socket) => ok(socket, 'young'));
    bench!.gateways.register('w4', young.path);
    expect(replyOf(await entriesOf(await start()))).toBe('young');
  });

  test('that is not there yet is waited for', async () => {
    const { path } = await gateway((socket) => ok(socket, 'late'));
    const lone = await start({
      agent: fakeAgent(
        `${FETCH} const f = on['session/prompt']; on['session/prompt'] = () => { text('calling '); return f(); };`,
      ),
    });
    for await (const entry of lone.journal.read(0, AbortSignal.timeout(20_000))) {
      if (entry.type === 'text') bench!.gateways.register('w5', path);
      if (entry.type === 'end') expect(entry.error).toBe(null);
    }
    expect(replyOf(await entriesOf(lone))).toBe('calling late');
  });

  test('is not there for a turn without it', async () => {
    const entries = await entriesOf(await start({ gateway: false }));
    expect(endOf(entries).error).toMatchObject({
      code: 'agent_error',
      message: expect.stringContaining('fetch failed') as string,
    });
  });

  test('gets and gives 20 MB whole, however slowly they are read', async () => {
    const body = 'x'.repeat(20_000_000);
    const { path } = await gateway((socket) => ok(socket, body));
    bench!.gateways.register('w6', path);
    const slow =
      "on['session/prompt'] = async () => { const r = await fetch('http://127.0.0.1:4401/big'); let n = 0; for await (const part of r.body) { n += part.length; if (n < 1000000) await new Promise((done) => setTimeout(done, 5)); } text(String(n)); return { stopReason: 'end_turn' }; };";
    expect(replyOf(await entriesOf(await start({ agent: fakeAgent(slow) })))).toBe('20000000');
  });

  test('takes no more than 64 connections of a task, and none outlives it', async () => {
    let open = 0,
      most = 0;
    const { path } = await gateway(() => {});
    const counting = createServer((socket) => {
      most = Math.max(most, ++open);
      socket
        .on('error', () => {})
        .on('close', () => {
          open--;
        })
        .resume();
    });
    await new Promise<void>((resolve) => {
      counting.listen(`${path}c`, resolve);
    });
    onTestFinished(() => {
      counting.close();
    });
    bench!.gateways.register('w7', `${path}c`);
    const greedy =
      "on['session/prompt'] = () => new Promise((resolve) => { let closed = 0; for (let i = 0; i < 80; i++) require('net').connect(4401, '127.0.0.1').on('error', () => {}).on('close', () => { if (++closed === 16) resolve({ stopReason: 'end_turn' }); }).write('x'); });";
    const entries = await entriesOf(await start({ agent: fakeAgent(greedy) }));
    expect([endOf(entries).error, most]).toEqual([null, 64]);
    await expect.poll(() => open).toBe(0);
  });
});
