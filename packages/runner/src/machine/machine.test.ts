/** Runners on a node: real processes, over real TLS, with workers that the tests play. */
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { createRunnerClient, startMachine, type MachineRunner, type RunnerClient } from '../client/index.ts';
import type { JournalEntry } from '../protocol.ts';
import { PROTOCOL_RANGE } from '../registration.ts';
import { scratch } from '../runner.fixture.ts';
import { processStat, processTree } from '../sandbox/processes.ts';
import { tarOf } from '../tar.ts';
import { TestAuthority } from '../tls/certificates.fixture.ts';
import { TlsCredentials } from '../tls/index.ts';
import { fakeWorker, freePort, NOTHING, partition, type FakeWorker } from './fake-worker.fixture.ts';
import type { MachineOptions } from './options.ts';

vi.setConfig({ testTimeout: 90_000 });
const folder = scratch();
const authority = new TestAuthority(folder);
const [workerFiles, runnerFiles, apiFiles] = ['worker', 'runner', 'api'].map((role) =>
  authority.of(role),
) as [ReturnType<TestAuthority['of']>, ReturnType<TestAuthority['of']>, ReturnType<TestAuthority['of']>];
/** Conditions that take a round of registrations, on a busy machine. */
const soon = <T>(look: () => T | Promise<T>): Promise<T> =>
  vi.waitFor(look, { timeout: 40_000, interval: 50 });

interface Node {
  runner: MachineRunner;
  port: number;
  client: RunnerClient;
  said: string[];
  /** Processes of the runner that registered last. */
  pid(): number;
}

async function node(worker: FakeWorker, changed: Partial<MachineOptions> = {}): Promise<Node> {
  const port = await freePort();
  const said: string[] = [];
  const runner = startMachine({
    stateDir: mkdtempSync(join(folder, 'n')),
    machine: {
      name: 'node-1',
      listen: { host: '127.0.0.1', port },
      address: `localhost:${port}`,
      workers: [{ host: 'localhost', port: worker.port }],
      tls: runnerFiles,
      pool: 'default',
      capacity: 8,
      drainSeconds: 60,
      limits: 'best-effort',
      metricsListen: null,
      ...changed,
    },
    sandboxes: {},
    onReady: () => said.push('ready'),
    say: (line) => said.push(line),
  });
  const client = createRunnerClient({ host: 'localhost', port, tls: new TlsCredentials(workerFiles) });
  onTestFinished(async () => {
    client.close();
    runner.stop('SIGINT');
    await runner.ended;
  });
  await soon(() => expect(worker.calls.length).toBeGreaterThan(0));
  return { runner, port, client, said, pid: () => worker.calls.at(-1)!.request.status.pid };
}

const sleeper = (workspaceId: string, seconds = 300) =>
  ({ kind: 'exec', workspaceId, command: `echo up; sleep ${seconds}`, timeoutMs: 600_000 }) as const;

async function read(client: RunnerClient, id: string): Promise<JournalEntry[]> {
  const entries: JournalEntry[] = [];
  for await (const entry of client.journal(id)) entries.push(entry);
  return entries;
}

test('serves its metrics where it is told to, and has no label of a task or workspace', async () => {
  const worker = await fakeWorker(workerFiles);
  const port = await freePort();
  const { client } = await node(worker, { metricsListen: { host: '127.0.0.1', port } });
  const scrape = async () => (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  expect(await scrape()).toMatch(/^headrace_certificate_expiry_seconds \d{4}/m);
  if (!(await client.status()).ok) return;
  await client.putWorkspace('thr_metrics', tarOf([]));
  await client.startTask('exe_metrics', sleeper('thr_metrics'));
  await soon(async () => {
    const text = await scrape();
    expect(text).toMatch(/^headrace_runner_sandboxes 1$/m);
    expect(Number(/^headrace_sandbox_start_seconds_count (\d+)$/m.exec(text)![1])).toBeGreaterThan(0);
    expect(text).not.toContain('_metrics');
    expect(text.split('\n').filter((line) => line && !line.startsWith('#')).length).toBeLessThan(300);
  });
});

const isLive = (pid: number): boolean => (processStat(pid)?.state ?? 'Z') !== 'Z';

describe('a runner on a node', () => {
  test('registers, and does over mTLS what one does on a socket', async () => {
    const worker = await fakeWorker(workerFiles);
    const { client, port } = await node(worker);
    const { bootId, request } = worker.calls[0]!;
    expect(bootId).toMatch(/^rnr_[0-9a-z]{26}$/);
    expect(request).toMatchObject({
      name: 'node-1',
      address: `localhost:${port}`,
      pool: 'default',
      protocol: PROTOCOL_RANGE,
      capacity: 8,
      isDraining: false,
      ...NOTHING,
    });
    expect(request.status).toMatchObject({ id: bootId, ok: true });
    expect((await client.status()).id).toBe(bootId);
    await client.putWorkspace('thr_1', tarOf([{ path: 'a.txt', content: 'a'.repeat(300_000) }]), {}, 10);
    await expect(client.deleteWorkspace('thr_1', 9)).rejects.toMatchObject({
      status: 409,
      code: 'superseded',
    });
    await client.startTask('op_1', { ...sleeper('thr_1'), command: 'wc -c < a.txt' });
    expect((await read(client, 'op_1')).find((entry) => entry.type === 'output')).toMatchObject({
      text: '300000\n',
    });
    expect((await buffer(await client.blobs('thr_1', []))).length % 512).toBe(0);
    await client.capture('thr_1', ['a.txt']);
    expect((await buffer(await client.blobs('thr_1', ['a.txt']))).length).toBeGreaterThan(300_000);
    await expect(client.task('op_none')).rejects.toMatchObject({ status: 404, code: 'not_found' });
    await expect(client.registerGateway('worker-1', '/tmp/none')).rejects.toMatchObject({ status: 404 });
    await soon(() =>
      expect(worker.calls.at(-1)!.request).toMatchObject({ tasks: ['op_1'], workspaces: ['thr_1'] }),
    );
  });

  test('pipes bytes to a preview, both ways', async () => {
    const worker = await fakeWorker(workerFiles);
    const { client } = await node(worker);
    await client.startTask('prv_1', {
      kind: 'preview',
      command: `node -e "require('net').createServer((s) => s.pipe(s)).listen(3000, '127.0.0.1')"`,
      port: 3000,
      timeoutMs: 60_000,
    });
    await client.putSource('prv_1', tarOf([]));
    for await (const entry of client.journal('prv_1')) if (entry.type === 'listening') break;
    const pipe = await client.connect('prv_1');
    pipe.write('x'.repeat(200_000));
    let size = 0;
    for await (const part of pipe) {
      size += (part as Buffer).length;
      if (size === 200_000) break;
    }
    expect(size).toBe(200_000);
    await client.deleteTask('prv_1');
    await expect(client.connect('prv_1')).rejects.toMatchObject({ status: 404 });
  });

  test('lets in workers and api processes alone', async () => {
    const worker = await fakeWorker(workerFiles);
    const { port } = await node(worker);
    const as = async (files: typeof workerFiles) => {
      const client = createRunnerClient({ host: 'localhost', port, tls: new TlsCredentials(files) });
      onTestFinished(() => client.close());
      return client.status();
    };
    expect((await as(apiFiles)).ok).toBe(true);
    const AWAY = { status: 503, code: 'unavailable' };
    await expect(as(runnerFiles)).rejects.toMatchObject(AWAY);
    await expect(as(new TestAuthority(mkdtempSync(join(folder, 's'))).of('worker'))).rejects.toMatchObject(
      AWAY,
    );
  });

  test('forgets what the answer names, and nothing that was used since', async () => {
    const worker = await fakeWorker(workerFiles);
    const { client, pid } = await node(worker);
    for (const id of ['thr_1', 'thr_2', 'thr_3']) await client.putWorkspace(id, tarOf([]));
    await client.startTask('op_1', sleeper('thr_1'));
    await client.startTask('op_2', sleeper('thr_2'));
    await soon(() => expect(worker.calls.at(-1)!.request.tasks).toEqual(['op_1', 'op_2']));
    worker.forget = { tasks: [], workspaces: ['thr_1', 'thr_3', '../../etc', 'thr_none'], groups: ['prj_1'] };
    // Not an id: the whole answer counts for nothing.
    const { length } = worker.calls;
    await soon(() => expect(worker.calls.length).toBeGreaterThan(length + 1));
    expect(worker.calls.at(-1)!.request.workspaces).toEqual(['thr_1', 'thr_2', 'thr_3']);
    worker.forget.workspaces = ['thr_1', 'thr_3', 'thr_none'];
    await soon(() =>
      expect(worker.calls.at(-1)!.request).toMatchObject({ tasks: ['op_2'], workspaces: ['thr_2'] }),
    );
    worker.forget = { ...NOTHING, tasks: ['op_2', 'bld_later'] };
    await soon(() => expect(worker.calls.at(-1)!.request.tasks).toEqual([]));
    expect(await client.workspaceExists('thr_2')).toBe(true);
    // A build that had not begun is not taken for removed.
    const build = { kind: 'build', command: 'true', outputDirectory: 'd', timeoutMs: 1000 } as const;
    expect((await client.startTask('bld_later', build)).isNew).toBe(true);
    expect(processTree(pid()).length).toBeLessThan(5);
  });
});

describe('the lease', () => {
  test('survives a worker that is away for less', async () => {
    const worker = await fakeWorker(workerFiles, 20);
    const link = await partition(worker.port);
    const { client } = await node({ ...worker, port: link.port, calls: worker.calls });
    const { bootId } = worker.calls[0]!;
    await client.putWorkspace('thr_1', tarOf([]));
    await client.startTask('op_1', sleeper('thr_1'));
    link.isCut = true;
    const { length } = worker.calls;
    const cutAt = performance.now();
    await soon(() => expect(performance.now() - cutAt).toBeGreaterThan(7_000));
    expect(worker.calls.length).toBe(length);
    link.isCut = false;
    await soon(() => expect(worker.calls.length).toBeGreaterThan(length));
    expect(worker.calls.at(-1)).toMatchObject({
      bootId,
      request: { tasks: ['op_1'], workspaces: ['thr_1'] },
    });
    expect((await client.task('op_1')).status).toBe('running');
  });

  test('that ends kills everything, and another runner registers', async () => {
    const worker = await fakeWorker(workerFiles, 6);
    const link = await partition(worker.port);
    const { client, pid, said } = await node({ ...worker, port: link.port, calls: worker.calls });
    const { bootId } = worker.calls[0]!;
    await client.putWorkspace('thr_1', tarOf([]));
    await client.startTask('op_1', sleeper('thr_1'));
    for await (const entry of client.journal('op_1')) if (entry.type === 'output') break;
    const all = processTree(pid()).map((one) => one.pid);
    expect(all.length).toBeGreaterThan(1);
    // Its own listener is reachable: only registrations keep the lease.
    link.isCut = true;
    const cutAt = performance.now();
    await soon(() => expect(all.filter(isLive)).toEqual([]));
    expect(performance.now() - cutAt).toBeLessThan(6_000 + 5_000);
    await soon(() => expect(said).toEqual(['ready', 'the runner has ended (code 75); the next one starts']));
    link.isCut = false;
    await soon(() => expect(worker.calls.at(-1)!.bootId).not.toBe(bootId));
    expect(worker.calls.at(-1)!.request).toMatchObject({ tasks: [], workspaces: [] });
  });

  test('ends at once where the workers count it as gone', async () => {
    const worker = await fakeWorker(workerFiles);
    const { client, pid } = await node(worker);
    const { bootId } = worker.calls[0]!;
    await client.putWorkspace('thr_1', tarOf([]));
    await client.startTask('op_1', sleeper('thr_1'));
    const all = processTree(pid()).map((one) => one.pid);
    worker.refusal = { status: 409, code: 'gone' };
    await soon(() => expect(all.filter(isLive)).toEqual([]));
    worker.refusal = null;
    await soon(() => expect(worker.calls.at(-1)!.bootId).not.toBe(bootId));
  });

  test('is kept by any of several workers', async () => {
    const worker = await fakeWorker(workerFiles, 12);
    const nobody = await freePort();
    const stranger = await fakeWorker(new TestAuthority(mkdtempSync(join(folder, 's'))).of('worker'));
    await node(worker, {
      workers: [nobody, stranger.port, worker.port].map((port) => ({ host: 'localhost', port })),
    });
    await soon(() => expect(worker.calls.length).toBeGreaterThan(1));
    expect(stranger.calls).toEqual([]);
  });
});

describe('the end', () => {
  test('drains: says so at once, waits for what it has, says goodbye', async () => {
    const worker = await fakeWorker(workerFiles);
    const { client, runner } = await node(worker);
    const { bootId } = worker.calls[0]!;
    await client.putWorkspace('thr_1', tarOf([]));
    await client.startTask('op_1', sleeper('thr_1'));
    const toldAt = performance.now();
    runner.stop('SIGTERM');
    await soon(() => expect(worker.calls.at(-1)!.request.isDraining).toBe(true));
    expect(performance.now() - toldAt).toBeLessThan(2_000);
    expect((await client.task('op_1')).status).toBe('running');
    await client.deleteTask('op_1');
    const { length } = worker.calls;
    await soon(() => expect(worker.calls.length).toBeGreaterThan(length));
    expect(worker.left).toEqual([]);
    await client.deleteWorkspace('thr_1');
    expect(await runner.ended).toBe(0);
    expect(worker.left).toEqual([bootId]);
  });

  test('cancels what has not ended in time', async () => {
    const worker = await fakeWorker(workerFiles);
    const { client, runner, pid } = await node(worker, { drainSeconds: 1 });
    await client.putWorkspace('thr_1', tarOf([]));
    await client.startTask('op_1', sleeper('thr_1'));
    for await (const entry of client.journal('op_1')) if (entry.type === 'output') break;
    const all = processTree(pid()).map((one) => one.pid);
    const journal = read(client, 'op_1');
    runner.stop('SIGTERM');
    expect((await journal).at(-1)).toMatchObject({ type: 'end', outcome: 'cancelled' });
    expect(await runner.ended).toBe(0);
    expect(all.filter(isLive)).toEqual([]);
  });

  test('of a runner that was killed is followed by another one', async () => {
    const worker = await fakeWorker(workerFiles);
    const { pid } = await node(worker);
    const { bootId } = worker.calls[0]!;
    process.kill(pid(), 'SIGKILL');
    await soon(() => expect(worker.calls.at(-1)!.bootId).not.toBe(bootId));
  });
});
