import { readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { scratch } from '../../runner.fixture.ts';
import { DEFAULT_LIMITS, NODE } from '../driver.ts';
import { prepareHost, releaseHost } from '../host.ts';
import { processStat } from '../processes.ts';
import { containerDriver, type ContainerSettings } from './driver.ts';
import { FakeEngine } from './fake-engine.fixture.ts';

const folder = scratch();
const host = await prepareHost(join(folder, 'cache'));
afterAll(() => releaseHost(host));

async function missing(
  settings: Partial<ContainerSettings> = {},
  prepare: (engine: FakeEngine) => void = () => {},
): Promise<{ engine: FakeEngine; said: string }> {
  const engine = new FakeEngine(folder);
  await engine.listen();
  onTestFinished(() => engine.die());
  prepare(engine);
  return {
    engine,
    said: (
      await containerDriver(host, {
        socket: engine.socket,
        image: null,
        runtime: null,
        ...settings,
      }).missing()
    ).join('; '),
  };
}

describe('the driver of containers', () => {
  test('lacks nothing where an engine answers', async () => {
    expect((await missing()).said).toBe('');
  });

  test.each<[string, Partial<ContainerSettings>, (engine: FakeEngine) => void, RegExp]>([
    [
      'no engine',
      { socket: join(folder, 'none') },
      () => {},
      /no container engine answers on .*none.*HEADRACE_CONTAINER_SOCKET/,
    ],
    [
      'an old API',
      {},
      (e) => {
        e.version = { ApiVersion: '1.24', Version: '1.12' };
      },
      /version 1\.24 of the API: install Docker 20\.10/,
    ],
    [
      'no such image',
      { image: 'mine:1' },
      (e) => {
        e.replies.set('GET /images/', { status: 404 });
      },
      /no image mine:1: pull or build it/,
    ],
    [
      'no such runtime',
      { runtime: 'kata' },
      () => {},
      /no runtime kata: install it .*daemon\.json.* one of runc/,
    ],
    [
      'a runtime that is not installed',
      { runtime: 'kata' },
      (e) => {
        e.info = { ...e.info, Runtimes: { kata: { path: '/none/kata' } } };
      },
      /no runtime kata/,
    ],
    [
      'a runtime that Podman does not take',
      { runtime: 'kata' },
      (e) => {
        e.version = { ApiVersion: '1.41', Version: '4.3.1', Components: [{ Name: 'Podman Engine' }] };
        e.info = { ...e.info, Rootless: process.getuid!() !== 0, DefaultRuntime: 'crun' };
      },
      /with crun: start it with `podman --runtime kata system service`/,
    ],
    [
      'no seccomp',
      {},
      (e) => {
        e.info = { ...e.info, SecurityOptions: [] };
      },
      /has no seccomp/,
    ],
    [
      'rootless Docker',
      {},
      (e) => {
        e.info = { ...e.info, SecurityOptions: ['name=seccomp', 'name=rootless'] };
      },
      /rootless Podman/,
    ],
    [
      'an engine that lists no containers',
      {},
      (e) => {
        e.replies.set('GET /containers/json', { status: 200, body: {} });
      },
      /refused|no container engine answers on .*does not list its containers/,
    ],
    [
      'an engine that refuses',
      {},
      (e) => {
        e.replies.set('POST /images/create', { status: 500, body: { message: 'disk full' } });
        e.replies.set('GET /images/', { status: 404 });
      },
      /refused: disk full/,
    ],
  ])('says the remedy: %s', async (_name, settings, prepare, expected) => {
    expect((await missing(settings, prepare)).said).toMatch(expected);
  });

  test("starts from a runtime's image, with the runner's Node that it carries along", async () => {
    const engine = new FakeEngine(folder);
    await engine.listen();
    onTestFinished(() => engine.die());
    const driver = containerDriver(host, { socket: engine.socket, image: null, runtime: null });
    expect(await driver.missing()).toEqual([]);
    const runtime = { name: 'a', root: '/srv/a', image: 'mine:1' };
    const sandbox = driver.start({ command: ['true'], binds: [], limits: DEFAULT_LIMITS, runtime });
    await expect.poll(() => engine.state?.Running).toBe(true);
    await sandbox.kill();
    const { Image: image, HostConfig: config } = engine.created as {
      Image: string;
      HostConfig: { Mounts: { Target: string; ReadOnly: boolean }[] };
    };
    const targets = config.Mounts.map(({ Target }) => Target);
    expect([image, config.Mounts.every(({ ReadOnly }) => ReadOnly)]).toEqual(['mine:1', true]);
    expect(targets).toEqual(expect.arrayContaining(['/opt/headrace/lib', '/opt/headrace/lib/node', NODE]));
    // The image's own system, and not this machine's.
    expect([targets.includes('/usr'), targets.includes('/etc'), new Set(targets).size]).toEqual([
      false,
      false,
      targets.length,
    ]);
  });

  test('offers the images that its engine has, and no roots', async () => {
    const engine = new FakeEngine(folder);
    await engine.listen();
    onTestFinished(() => engine.die());
    const driver = containerDriver(host, { socket: engine.socket, image: null, runtime: null });
    const offers = (image: string | null) => driver.offers({ name: 'a', root: '/', image });
    expect(await offers('mine:1')).toBe(false);
    await driver.missing();
    expect([await offers('mine:1'), await offers(null)]).toEqual([true, false]);
    engine.replies.set('GET /images/mine:1', { status: 404 });
    expect(await offers('mine:1')).toBe(false);
  });

  test('warns where memory cannot be bounded, and of a shared user namespace', async () => {
    const engine = new FakeEngine(folder);
    await engine.listen();
    onTestFinished(() => engine.die());
    engine.info = { ...engine.info, MemoryLimit: false, PidsLimit: false };
    const driver = containerDriver(host, { socket: engine.socket, image: null, runtime: null });
    await driver.missing();
    expect(driver.limits).toMatchObject({
      memory: 'watchdog',
      processes: 'rlimit',
      warnings: [
        expect.stringContaining('no control groups') as string,
        expect.stringContaining('share the user namespace') as string,
      ],
    });
  });

  test('removes the containers of dead runners, and no others', async () => {
    const own = `${process.pid} ${processStat(process.pid)!.startTime}`;
    const namespace = readlinkSync('/proc/self/ns/pid');
    const { engine } = await missing({}, (e) => {
      e.containers = Object.entries({
        own: `${namespace} ${own}`,
        dead: `${namespace} 4194305 1`,
        reused: `${namespace} ${process.pid} 1`,
        elsewhere: 'pid:[1] 4194305 1',
      }).map(([Id, owner]) => ({ Id, Labels: { 'headrace.runner': 'x', 'headrace.owner': owner } }));
    });
    expect(
      engine.calls.filter((call) => call.startsWith('DELETE')).map((call) => call.replace(/\?.*/, '')),
    ).toEqual(['DELETE /containers/dead', 'DELETE /containers/reused']);
  });
});
