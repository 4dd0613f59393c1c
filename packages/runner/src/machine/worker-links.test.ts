import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createRunnerClient } from '../client/index.ts';
import { BENCH_STATUS } from '../http/server.fixture.ts';
import { makeServer } from '../http/server.ts';
import { endOf, entriesOf, makeBench, scratch, tarStream } from '../runner.fixture.ts';
import { fakeAgent } from '../tasks/fake-agent.fixture.ts';
import { Tasks } from '../tasks/tasks.ts';
import { TestAuthority } from '../tls/certificates.fixture.ts';
import { TlsCredentials } from '../tls/index.ts';
import { fakeWorker, freePort, partition } from './fake-worker.fixture.ts';
import { WorkerLinks } from './worker-links.ts';

const folder = scratch();
const authority = new TestAuthority(folder);
const [workerFiles, runnerFiles] = [authority.of('worker'), authority.of('runner')];

function linksTo(...ports: number[]): WorkerLinks {
  const links = new WorkerLinks(
    ports.map((port) => ({ host: 'localhost', port })),
    new TlsCredentials(runnerFiles),
  );
  onTestFinished(() => links.close());
  return links;
}

/** All that arrives until the other side ends its half. */
function all(socket: Socket): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    socket.on('data', (part) => (text += String(part))).on('end', () => resolve(text));
  });
}

describe('the way to the model gateway', () => {
  test('carries bytes both ways, and either half may end first', async () => {
    const worker = await fakeWorker(workerFiles);
    worker.onGateway = (socket) => {
      // Answers only when the other half has ended.
      void all(socket).then((text) => socket.end(`got ${text.length}`));
    };
    const socket = (await linksTo(worker.port).dial())!;
    socket.end('x'.repeat(500_000));
    expect(await all(socket)).toBe('got 500000');

    worker.onGateway = (other) => {
      other.end('all of it');
      void all(other).then((text) => replies.push(text));
    };
    const replies: string[] = [];
    const second = (await linksTo(worker.port).dial())!;
    expect(await all(second)).toBe('all of it');
    second.end('still there');
    await once(second, 'close');
    await expect.poll(() => replies).toEqual(['still there']);
  });

  test('is the first worker that takes it; none is none', async () => {
    const worker = await fakeWorker(workerFiles);
    worker.onGateway = (socket) => socket.end('here');
    const stranger = await fakeWorker(new TestAuthority(mkdtempSync(join(folder, 's'))).of('worker'));
    const runner = await fakeWorker(runnerFiles);
    const links = linksTo(await freePort(), stranger.port, runner.port, worker.port);
    expect(await all((await links.dial())!)).toBe('here');
    expect(await linksTo(await freePort(), stranger.port, runner.port).dial()).toBe(undefined);
  });

  test('gives up on a worker that takes connections and says nothing', async () => {
    const silent = createServer(() => {}).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    onTestFinished(() => void silent.close());
    const worker = await fakeWorker(workerFiles);
    worker.onGateway = (socket) => socket.end('here');
    const links = linksTo((silent.address() as AddressInfo).port, worker.port);
    expect(await all((await links.dial())!)).toBe('here');
    // It is tried first from then on.
    const startedAt = performance.now();
    expect(await all((await links.dial())!)).toBe('here');
    expect(performance.now() - startedAt).toBeLessThan(1_500);
  });
});

const bench = await makeBench();

describe.skipIf(!bench)('an agent in a sandbox', () => {
  test('reaches the gateway of a worker on another machine, which learns the task', async () => {
    const worker = await fakeWorker(workerFiles);
    const said: string[] = [];
    worker.onGateway = (socket) => {
      let text = '';
      socket.on('data', (part) => {
        text += String(part);
        if (!text.includes('\r\n\r\n')) return;
        said.push(text);
        socket.end('HTTP/1.1 200 OK\r\ncontent-length: 6\r\nconnection: close\r\n\r\nanswer');
      });
    };
    const { host, workspaces } = bench!;
    const tasks = new Tasks(host, workspaces, linksTo(worker.port));
    await workspaces.put('thr_1', tarStream({ 'a.txt': 'a' }));
    const { task } = tasks.start('run_1', {
      kind: 'turn',
      workspaceId: 'thr_1',
      agent: fakeAgent(
        "on['session/prompt'] = async () => { const r = await fetch('http://127.0.0.1:4401/x'); text(await r.text()); return { stopReason: 'end_turn' }; };",
      ),
      prompt: 'ask',
      gateway: true,
      permissions: 'allow',
      timeoutMs: 30_000,
    });
    const entries = await entriesOf(task);
    expect(endOf(entries)).toMatchObject({ outcome: 'completed' });
    expect(entries).toContainEqual(expect.objectContaining({ type: 'text', content: 'answer' }));
    expect(said.join('')).toMatch(/^task run_1\nGET \/x HTTP\/1\.1\r\n/);
  }, 60_000);
});

describe.skipIf(!bench)('a runner that a partition hides', async () => {
  test('is noticed by a client in the middle of a journal, and of a call', async () => {
    const { server } = makeServer(
      { ...bench!, status: BENCH_STATUS },
      { tls: new TlsCredentials(runnerFiles), onRefused: () => {} },
    );
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const link = await partition((server.address() as AddressInfo).port);
    const client = createRunnerClient({
      host: 'localhost',
      port: link.port,
      tls: new TlsCredentials(workerFiles),
      silenceMs: 8_000,
    });
    onTestFinished(() => {
      client.close();
      server.close();
      server.closeAllConnections();
    });
    await client.putWorkspace('thr_2', tarStream({ 'a.txt': 'a' }));
    await client.startTask('op_1', {
      kind: 'exec',
      workspaceId: 'thr_2',
      command: 'echo up; sleep 100',
      timeoutMs: 200_000,
    });
    const types: string[] = [];
    const startedAt = performance.now();
    const journal = (async () => {
      for await (const entry of client.journal('op_1')) types.push(entry.type);
    })();
    let brokenAt: number | undefined;
    journal.catch(() => (brokenAt = performance.now()));
    // Silent for longer than the client waits: signs of life keep it.
    await expect.poll(() => performance.now() - startedAt > 12_000, { timeout: 30_000 }).toBe(true);
    expect(brokenAt).toBeUndefined();
    await client.status();
    link.isCut = true;
    const cutAt = performance.now();
    const call = client.status();
    call.catch(() => {});
    await expect(journal).rejects.toMatchObject({ status: 503, code: 'unavailable' });
    await expect(call).rejects.toMatchObject({ status: 503, code: 'unavailable' });
    expect(performance.now() - cutAt).toBeLessThan(20_000);
    expect(types).toEqual(['started', 'output']);
    await bench!.tasks.remove('op_1');
  }, 90_000);
});
