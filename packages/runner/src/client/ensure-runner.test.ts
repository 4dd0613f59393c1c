import { existsSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { JournalEntry } from '../protocol.ts';
import { ensureRunner, type RunnerClient } from './index.ts';
import { processStat, processTree } from '../sandbox/processes.ts';
import { tarOf } from '../tar.ts';
import { scratch } from '../runner.fixture.ts';

const folders = scratch();
const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};
const gone = (pid: number): Promise<void> =>
  vi.waitFor(
    () => {
      if (isAlive(pid)) throw new Error('the runner is alive');
    },
    { timeout: 15_000, interval: 20 },
  );

/** Folders that this runner made. */
const foldersOf = (pid: number): string[] =>
  ['/dev/shm', tmpdir()]
    .filter((parent) => existsSync(parent))
    .flatMap((parent) => readdirSync(parent).map((name) => join(parent, name)))
    .filter((folder) => {
      try {
        return (
          folder.includes('/headrace-') &&
          (JSON.parse(readFileSync(join(folder, 'owner.json'), 'utf8')) as { pid: number }).pid === pid
        );
      } catch {
        return false;
      }
    });

interface Started {
  client: RunnerClient;
  pid: number;
  ok: boolean;
  options: { stateDir: string; socketPath: string; idleSeconds: number };
}

async function started(idleSeconds = 30): Promise<Started> {
  const stateDir = mkdtempSync(join(folders, 'r'));
  const options = { stateDir, socketPath: join(stateDir, 'run', 's'), idleSeconds };
  const client = await ensureRunner(options);
  const { pid, ok } = await client.status();
  onTestFinished(async () => {
    client.close();
    if (isAlive(pid)) process.kill(pid, 'SIGTERM');
    await gone(pid);
  });
  return { client, pid, ok, options };
}

async function read(client: RunnerClient, id: string, from = 0): Promise<JournalEntry[]> {
  const entries: JournalEntry[] = [];
  for await (const entry of client.journal(id, from)) entries.push(entry);
  return entries;
}

describe('a runner process', () => {
  test('is started once, also by two at once, and found again', async () => {
    const stateDir = mkdtempSync(join(folders, 'r'));
    const options = { stateDir, socketPath: join(stateDir, 's'), idleSeconds: 5 };
    const clients = await Promise.all([ensureRunner(options), ensureRunner(options), ensureRunner(options)]);
    const pids = await Promise.all(
      [...clients, await ensureRunner(options)].map(async (client) => (await client.status()).pid),
    );
    expect(new Set(pids).size).toBe(1);
    process.kill(pids[0]!, 'SIGTERM');
    await gone(pids[0]!);
    expect(existsSync(options.socketPath)).toBe(false);
  });

  test('that was killed takes its sandboxes with it; the next one takes over its socket and removes its files', async () => {
    const { client, pid, ok, options } = await started();
    const before = foldersOf(pid);
    expect(before.length).toBe(1);
    if (ok) {
      await client.putWorkspace('thr_1', tarOf([]));
      await client.startTask('op_1', {
        kind: 'exec',
        workspaceId: 'thr_1',
        command: 'echo up; trap "" TERM HUP; sleep 300 & sleep 300',
        timeoutMs: 60_000,
      });
      for await (const entry of client.journal('op_1')) if (entry.type === 'output') break;
    }
    const tree = processTree(pid).map((p) => p.pid);
    process.kill(pid, 'SIGKILL');
    await vi.waitFor(
      () => expect(tree.filter((one) => (processStat(one)?.state ?? 'Z') !== 'Z')).toEqual([]),
      { timeout: 10_000 },
    );
    const next = await ensureRunner(options);
    const again = await next.status();
    onTestFinished(async () => {
      next.close();
      process.kill(again.pid, 'SIGTERM');
      await gone(again.pid);
    });
    expect(again.pid).not.toBe(pid);
    expect(before.filter((folder) => existsSync(folder))).toEqual([]);
  });

  test('has a random name that the next one of its folder has, and none of another folder', async () => {
    const { client, pid, options } = await started();
    const { id } = await client.status();
    expect(id).toMatch(/^rnr_[0-9a-z]{26}$/);
    process.kill(pid, 'SIGTERM');
    await gone(pid);
    const next = await ensureRunner(options);
    const again = await next.status();
    onTestFinished(async () => {
      next.close();
      process.kill(again.pid, 'SIGTERM');
      await gone(again.pid);
    });
    expect([again.id, again.pid === pid]).toEqual([id, false]);
    expect((await (await started()).client.status()).id).not.toBe(id);
  });

  test('ends by itself when no worker was there for its idle time', async () => {
    const { client, pid } = await started(0.5);
    client.close();
    await gone(pid);
  });

  test('keeps a task and its journal for a worker that comes back', async () => {
    const { client, ok, options } = await started();
    if (!ok) return;
    await client.putWorkspace('thr_1', tarOf([{ path: 'a.txt', content: 'a' }]));
    const request = {
      kind: 'exec',
      workspaceId: 'thr_1',
      command: 'ls /proc/self/fd | tr "\\n" " "; sleep 0.5; echo done',
      timeoutMs: 9000,
    } as const;
    expect((await client.startTask('op_1', request)).isNew).toBe(true);
    for await (const entry of client.journal('op_1'))
      if (entry.type === 'output') {
        await client.ack('op_1', entry.offset);
        break;
      }
    client.close();
    const other = await ensureRunner(options);
    expect((await other.startTask('op_1', request)).isNew).toBe(false);
    const rest = await read(other, 'op_1');
    expect(rest.map((e) => (e.type === 'output' ? e.text : e.type))).toEqual(['done\n', 'end']);
    await other.deleteTask('op_1');
    await expect(other.task('op_1')).rejects.toMatchObject({ status: 404, code: 'not_found' });
    await other.deleteWorkspace('thr_1');
    await other.deleteWorkspace('thr_1');
    expect(await other.workspaceExists('thr_1')).toBe(false);
  });

  test('serves capture, blobs and patch, and gives sandboxes no descriptor of its starter', async () => {
    const { client, ok } = await started();
    if (!ok) return;
    await client.putWorkspace(
      'thr_1',
      tarOf([
        { path: 'a.txt', content: 'a' },
        { path: 'x'.repeat(90) + '/' + 'ä'.repeat(90), content: 'long' },
      ]),
    );
    await client.startTask('op_1', {
      kind: 'exec',
      workspaceId: 'thr_1',
      command: 'ls /proc/self/fd | tr "\\n" " "',
      timeoutMs: 9000,
    });
    expect((await read(client, 'op_1')).find((e) => e.type === 'output')).toMatchObject({ text: '0 1 2 3 ' });
    const { files } = await client.capture('thr_1', ['a.txt']);
    expect(files.map((f) => f.byteSize).sort()).toEqual([1, 4]);
    expect(
      (
        await buffer(
          await client.blobs(
            'thr_1',
            files.map((f) => f.path),
          ),
        )
      ).length % 512,
    ).toBe(0);
    await client.patch('thr_1', tarOf([{ path: '.headrace-patch.json', content: '{"delete":["a.txt"]}' }]));
    expect((await client.capture('thr_1', ['a.txt'])).files.length).toBe(1);
    await expect(client.blobs('thr_1', ['a.txt'])).rejects.toMatchObject({ status: 409, code: 'changed' });
    await expect(client.capture('thr_none', [])).rejects.toMatchObject({ status: 404 });
    await expect(client.startTask('op_2', { kind: 'odd' } as never)).rejects.toMatchObject({
      status: 400,
      code: 'invalid_request',
    });
  });

  test('tells its load, takes gateways, and hands messages to turns only', async () => {
    const { client, ok } = await started();
    const { load } = await client.status();
    expect(load!.memoryBytes).toBeGreaterThan(256 * 1024 ** 2);
    expect(load!.freeBytes).toBeGreaterThan(0);
    expect(load!.freeBytes).toBeLessThanOrEqual(load!.memoryBytes);
    await client.registerGateway('worker-1', '/tmp/none');
    await expect(client.registerGateway('worker-1', 'relative')).rejects.toMatchObject({
      status: 400,
      code: 'invalid_request',
    });
    await expect(client.steer('run_none', { id: 'm', prompt: 'x' })).rejects.toMatchObject({ status: 404 });
    if (!ok) return;
    await client.putWorkspace('thr_1', tarOf([]));
    await client.startTask('op_1', {
      kind: 'exec',
      workspaceId: 'thr_1',
      command: 'sleep 60',
      timeoutMs: 60_000,
    });
    await vi.waitFor(async () => expect((await client.status()).load!.sandboxes).toBe(1));
    await expect(client.steer('op_1', { id: 'm', prompt: 'x' })).rejects.toMatchObject({
      status: 409,
      code: 'not_steerable',
    });
    await client.cancel('op_1');
    expect((await client.status()).load!.sandboxes).toBe(0);
  });

  test('that is not there is unavailable', async () => {
    const { client, pid } = await started();
    process.kill(pid, 'SIGTERM');
    await gone(pid);
    await expect(client.status()).rejects.toMatchObject({ status: 503, code: 'unavailable' });
  });
});
