import { once } from 'node:events';
import { describe, expect, test } from 'vitest';
import { makeBench, tarStream } from '../runner.fixture.ts';
import { blobs, capture } from './capture.ts';
import type { Sandbox } from '../sandbox/driver.ts';

const bench = await makeBench();

describe.skipIf(!bench)('contents that nobody reads', () => {
  test('leave no sandbox', async () => {
    const { host, workspaces } = bench!;
    await workspaces.put('unread', tarStream({ 'a.txt': 'a'.repeat(4_000_000) }));
    const workspace = workspaces.get('unread');
    await capture(host, workspace, []);
    let sandbox: Sandbox | undefined;
    const { driver } = host;
    const watched = {
      ...host,
      driver: Object.assign(Object.create(driver!) as typeof driver & object, {
        start: (spec: Parameters<NonNullable<typeof driver>['start']>[0]) => {
          sandbox = driver!.start(spec);
          return sandbox;
        },
      }),
    };
    const tar = blobs(watched, workspace, ['a.txt']);
    tar.destroy();
    await once(tar, 'close');
    expect(
      await Promise.race([
        sandbox!.exited,
        new Promise((resolve) => {
          setTimeout(() => resolve('it lives'), 10_000);
        }),
      ]),
    ).toMatchObject({ signal: 'SIGKILL' });
  });
});
