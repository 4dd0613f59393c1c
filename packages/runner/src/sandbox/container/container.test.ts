import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { afterAll, describe, expect, test } from 'vitest';
import { scratch } from '../../runner.fixture.ts';
import { collect } from '../collect.ts';
import { settled } from '../processes.ts';
import { Container } from './container.ts';
import { Engine } from './engine.ts';
import { FakeEngine } from './fake-engine.fixture.ts';

const folder = scratch();
const engines: FakeEngine[] = [];
afterAll(() => Promise.all(engines.map((engine) => engine.die())));

async function started(
  prepare: (engine: FakeEngine) => void = () => {},
): Promise<{ engine: FakeEngine; container: Container }> {
  const engine = new FakeEngine(folder);
  await engine.listen();
  engines.push(engine);
  prepare(engine);
  return { engine, container: new Container(new Engine(engine.socket), 'headrace-x', {}) };
}

/** expect.poll loses its test when tests run concurrently. */
const until = async (done: () => boolean): Promise<void> => {
  expect(await settled(done, 10_000)).toBe(true);
};
const running = (engine: FakeEngine): Promise<void> =>
  until(() => engine.state?.Running === true && engine.attached !== undefined);
const frame = (stream: number, text: string): Buffer =>
  Buffer.concat([Buffer.from([stream, 0, 0, 0, 0, 0, 0, text.length]), Buffer.from(text)]);

describe.concurrent('a container', () => {
  test('is made, attached, started, asked about and removed, in this order', async () => {
    const { engine, container } = await started();
    await running(engine);
    engine.attached!.write(Buffer.concat([frame(1, 'out'), frame(2, 'err'), frame(1, 'put')]));
    engine.exit(3);
    expect(await collect(container, { maxBytes: 100, timeoutMs: 5000 })).toEqual({
      code: 3,
      signal: null,
      oom: false,
      stdout: Buffer.from('output'),
      stderr: 'err',
    });
    const steps = engine.calls
      .map((call) => call.replace('headrace-x', 'N').replace(/\?.*/, ''))
      .filter((call) => !call.startsWith('GET') && !call.endsWith('/wait'));
    expect(steps).toEqual([
      'POST /containers/create',
      'POST /containers/N/attach',
      'POST /containers/N/start',
      'DELETE /containers/N',
    ]);
    expect(engine.state).toBe(null);
  });

  test('frames come apart wherever they are cut', async () => {
    const { engine, container } = await started();
    await running(engine);
    const done = collect(container, { maxBytes: 100, timeoutMs: 5000 });
    for (const byte of Buffer.concat([frame(1, 'one'), frame(2, ''), frame(2, 'two'), frame(1, '!')])) {
      engine.attached!.write(Buffer.from([byte]));
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
    }
    engine.exit(0);
    expect(await done).toMatchObject({ stdout: Buffer.from('one!'), stderr: 'two' });
  });

  test('nobody reads on where nobody takes what was read', async () => {
    const { engine, container } = await started();
    await running(engine);
    const block = Buffer.concat([Buffer.from([1, 0, 0, 0, 0, 1, 0, 0]), Buffer.alloc(65_536)]);
    let sent = 0;
    while (sent < 1000 && engine.attached!.write(block)) {
      sent++;
      await new Promise((resolve) => {
        setTimeout(resolve, 1);
      });
    }
    expect(sent).toBeLessThan(100);
    expect(container.stdout.readableLength).toBeLessThan(1024 ** 2);
    await container.kill();
  });

  test('what engines tell of memory is told', async () => {
    const { engine, container } = await started();
    await running(engine);
    engine.state!.OOMKilled = true;
    engine.exit(137);
    expect(await container.exited).toEqual({ code: 137, signal: 'SIGKILL', oom: true });
  });

  test('a kill before its creation is answered waits for the answer, and removes it unstarted', async () => {
    const created = Promise.withResolvers<{ status: number }>();
    const { engine, container } = await started((fake) => {
      fake.replies.set('POST /containers/create', created.promise);
    });
    await until(() => engine.calls.length === 1);
    const killed = container.kill();
    engine.state = { Running: false, ExitCode: 0 };
    created.resolve({ status: 201 });
    expect(await killed).toEqual({ code: 137, signal: 'SIGKILL', oom: false });
    expect(engine.calls.filter((call) => call.endsWith('/start'))).toEqual([]);
    expect(engine.state).toBe(null);
  });

  test.each(['POST /create', 'POST /start'])(
    'a refusal of %s is told as no sandbox, and nothing stays',
    async (call) => {
      const { engine, container } = await started((fake) => {
        fake.replies.set(call, { status: 500, body: { message: 'no space left' } });
      });
      await expect(container.exited).rejects.toMatchObject({
        status: 503,
        code: 'no_sandbox',
        message: expect.stringContaining('no space left') as string,
      });
      expect(engine.state).toBe(null);
      expect(await container.stdout.toArray()).toEqual([]);
    },
  );

  test('an answer that was lost leaves no container', async () => {
    const { engine, container } = await started((fake) => {
      fake.replies.set('POST /create', 'cut');
      fake.state = { Running: false, ExitCode: 0 };
    });
    await expect(container.exited).rejects.toMatchObject({ code: 'no_sandbox' });
    expect(engine.state).toBe(null);
  });

  test('an engine that dies leaves its end unconfirmed, in bounded time; a kill once it is back confirms it', async () => {
    const { engine, container } = await started();
    await running(engine);
    await engine.die();
    await expect(container.exited).rejects.toMatchObject({ status: 500, code: 'not_confirmed' });
    expect(await container.stdout.toArray()).toEqual([]);
    await engine.listen();
    expect(engine.state?.Running).toBe(true);
    expect(await container.kill()).toMatchObject({ signal: 'SIGKILL' });
    expect(engine.state).toBe(null);
  });

  test('an answer that says nothing of it is no proof that it is gone', async () => {
    const { engine, container } = await started();
    await running(engine);
    engine.replies.set('GET /containers', { status: 200, body: {} });
    await expect(container.kill()).rejects.toMatchObject({ code: 'not_confirmed' });
  });

  test('a first process that is seen alive is believed before the engine is', async ({ onTestFinished }) => {
    const parent = spawn('unshare', [
      '--user',
      '--map-root-user',
      '--pid',
      '--fork',
      '--kill-child',
      'sleep',
      '60',
    ]);
    onTestFinished(() => {
      parent.kill('SIGKILL');
    });
    const first = (): number =>
      Number(readFileSync(`/proc/${parent.pid}/task/${parent.pid}/children`, 'latin1'));
    await until(() => first() > 0);
    const pid = first();
    const { engine, container } = await started((fake) => {
      fake.replies.set('GET /headrace-x/json', { body: { State: { Running: true, Pid: pid } } });
    });
    await until(() => container.initPid() === pid);
    engine.replies.clear();
    await expect(container.kill()).rejects.toMatchObject({ code: 'not_confirmed' });
    process.kill(pid, 'SIGKILL');
    expect(await container.kill()).toMatchObject({ signal: 'SIGKILL' });
  });

  test('a removal that the engine only claims is not believed', async () => {
    const { engine, container } = await started((fake) => {
      fake.replies.set('DELETE /containers', { status: 204 });
    });
    await running(engine);
    await expect(container.kill()).rejects.toMatchObject({ code: 'not_confirmed' });
    engine.replies.clear();
    expect(await container.kill()).toMatchObject({ signal: 'SIGKILL' });
  });
});
