import { existsSync, mkdtempSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { ensureRunner } from '../../client/ensure-runner.ts';
import { scratch } from '../../runner.fixture.ts';
import { FakeEngine } from './fake-engine.fixture.ts';
import { noteEngine, removeLeftBehind } from './left-behind.ts';

const parent = scratch();
const GONE = 4_194_305; // above every process id
const dead = {
  Id: 'dead',
  Labels: { 'headrace.runner': 'x', 'headrace.owner': `${readlinkSync('/proc/self/ns/pid')} ${GONE} 1` },
};

async function started(owner = GONE): Promise<{ engine: FakeEngine; folder: string }> {
  const folder = mkdtempSync(join(parent, 'state-'));
  const engine = new FakeEngine(parent);
  await engine.listen();
  onTestFinished(() => engine.die());
  engine.containers = [dead];
  noteEngine(folder, engine.socket, owner);
  return { engine, folder };
}

test('a runner answers once the containers of the one that was killed are gone, whatever its own driver is', async () => {
  const { engine, folder } = await started();
  const runner = await ensureRunner({
    stateDir: folder,
    socketPath: join(folder, 'runner'),
    idleSeconds: 1,
    sandboxes: { driver: 'bubblewrap' },
  });
  expect(engine.containers).toEqual([]);
  expect(existsSync(join(folder, 'engine.json'))).toBe(false);
  const { pid } = await runner.status();
  runner.close();
  process.kill(pid, 'SIGTERM');
});

test('an engine that does not answer has removed nothing: that is told, and asked again', async () => {
  const { engine, folder } = await started();
  await engine.die();
  await expect(removeLeftBehind(folder, 0)).rejects.toThrow(
    new RegExp(`may be alive on ${engine.socket} .*start that engine`),
  );
  await engine.listen();
  await removeLeftBehind(folder, 0);
  expect(engine.containers).toEqual([]);
});

test('an engine that only claims to have removed them has removed nothing', async () => {
  const { engine, folder } = await started();
  engine.replies.set('DELETE /containers/dead', { status: 204 });
  await expect(removeLeftBehind(folder, 0)).rejects.toThrow('does not remove 1 containers');
});

test('no engine is asked where none was used', async () => {
  const { engine, folder } = await started();
  await removeLeftBehind(folder);
  engine.calls.length = 0;
  await removeLeftBehind(folder);
  expect(engine.calls).toEqual([]);
});

test('one that is ending is waited for: what it runs lives still', async () => {
  const { engine, folder } = await started(process.pid);
  await expect(removeLeftBehind(folder, 0)).rejects.toThrow(`its process ${process.pid} has not ended yet`);
  expect(engine.calls).toEqual([]);
});
