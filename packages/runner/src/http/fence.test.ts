import { PassThrough } from 'node:stream';
import { describe, expect, test, vi } from 'vitest';
import type { TaskRequest } from '../protocol.ts';
import { tarOf } from '../tar.ts';
import { makeBench } from '../runner.fixture.ts';
import { serve } from './server.fixture.ts';

const bench = await makeBench();
const files = (content: string) => tarOf([{ path: 'a.txt', content }]);
const SUPERSEDED = { status: 409, code: 'superseded' };

describe.skipIf(!bench)('a worker that was taken for dead', async () => {
  const { client } = bench ? await serve(bench) : { client: undefined! };
  const command = (workspaceId: string): TaskRequest => ({
    kind: 'exec',
    workspaceId,
    command: 'sleep 60',
    timeoutMs: 60_000,
  });
  const contentOf = async (id: string) => (await client.capture(id, ['a.txt'])).files[0]!.byteSize;

  test('changes, replaces and removes nothing of whoever took its workspace over', async () => {
    await client.putWorkspace('thr_1', files('1'), {}, 10);
    await client.putWorkspace('thr_1', files('22'), {}, 11);
    await expect(client.putWorkspace('thr_1', files('333'), {}, 10)).rejects.toMatchObject(SUPERSEDED);
    await expect(
      client.patch('thr_1', tarOf([{ path: '.headrace-patch.json', content: '{"delete":["a.txt"]}' }]), 10),
    ).rejects.toMatchObject(SUPERSEDED);
    await expect(client.deleteWorkspace('thr_1', 10)).rejects.toMatchObject(SUPERSEDED);
    expect(await contentOf('thr_1')).toBe(2);
  });

  test('starts and ends no task in it', async () => {
    await client.putWorkspace('thr_2', files('1'), {}, 11);
    await expect(client.startTask('op_late', command('thr_2'), 10)).rejects.toMatchObject(SUPERSEDED);
    await client.startTask('op_2', command('thr_2'), 11);
    await expect(client.startTask('op_2', command('thr_2'), 10)).rejects.toMatchObject(SUPERSEDED);
    await expect(client.deleteTask('op_2', 10)).rejects.toMatchObject(SUPERSEDED);
    await expect(client.deleteWorkspace('thr_2', 10)).rejects.toMatchObject(SUPERSEDED);
    expect((await client.task('op_2')).status).not.toBe('ended');
    await client.deleteTask('op_2', 12);
  });

  test('makes none where it was removed, also where its archive was on its way by then', async () => {
    const late = new PassThrough();
    const made = client.putWorkspace('thr_3', late, {}, 10);
    await Promise.all([
      made.catch(() => null),
      (async () => {
        late.write(files('1').subarray(0, 512));
        await client.deleteWorkspace('thr_3', 11);
        late.end(files('1').subarray(512));
        await expect(made).rejects.toMatchObject(SUPERSEDED);
      })(),
    ]);
    await expect(client.putWorkspace('thr_3', files('1'), {}, 10)).rejects.toMatchObject(SUPERSEDED);
    expect(await client.workspaceExists('thr_3')).toBe(false);
  });

  test('does not remove a workspace made anew while it waited for the end of the one before', async () => {
    await client.putWorkspace('thr_5', files('1'), {}, 10);
    const [isAsked, isEnded] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    vi.spyOn(bench!.tasks, 'all').mockReturnValueOnce([
      {
        workspaceId: 'thr_5',
        cancel: () => {
          isAsked.resolve();
          return isEnded.promise;
        },
      },
    ] as never);
    const removed = client.deleteWorkspace('thr_5', 10);
    await isAsked.promise;
    await client.deleteWorkspace('thr_5', 11);
    await client.putWorkspace('thr_5', files('22'), {}, 11);
    isEnded.resolve();
    await expect(removed).rejects.toMatchObject(SUPERSEDED);
    expect(await contentOf('thr_5')).toBe(2);
  });

  test('a fence is a number', async () => {
    await expect(client.deleteWorkspace('thr_4', -1)).rejects.toMatchObject({
      status: 400,
      code: 'invalid_request',
    });
  });
});
