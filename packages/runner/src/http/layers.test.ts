import { expect, test } from 'vitest';
import type { RunnerClient } from '../client/runner-client.ts';
import type { JournalEntry, TaskRequest } from '../protocol.ts';
import { endOf, makeBench, outputOf } from '../runner.fixture.ts';
import { tarOf } from '../tar.ts';
import { serve } from './server.fixture.ts';

const bench = await makeBench();

async function journal(client: RunnerClient, id: string): Promise<JournalEntry[]> {
  const entries: JournalEntry[] = [];
  for await (const entry of client.journal(id)) entries.push(entry);
  return entries;
}

test.skipIf(!bench)(
  'a setup over the socket: its end, its key, trees that have it, and its project forgotten',
  async () => {
    const { client } = await serve(bench!);
    const group = 'prj_1';
    const setup: TaskRequest = {
      kind: 'setup',
      command: 'echo "token $TOKEN"; echo made > made',
      group,
      timeoutMs: 30_000,
      variables: { TOKEN: 'a-secret-value' },
      secrets: ['a-secret-value'],
    };
    expect(await client.startTask('set_1', setup)).toMatchObject({
      kind: 'setup',
      status: 'preparing',
      isNew: true,
    });
    await expect(client.putSource('set_1', tarOf([]), { layer: 'set_0' })).rejects.toMatchObject({
      status: 400,
    });
    await client.putSource('set_1', tarOf([{ path: 'a', content: 'a' }]));
    const entries = await journal(client, 'set_1');
    expect([outputOf(entries), endOf(entries).layer!.byteSize > 0]).toEqual(['token ***\n', true]);
    await client.deleteTask('set_1');
    expect([await client.keptLayers(group), await client.keptLayers('prj_2'), await client.groups()]).toEqual(
      [['set_1'], [], [group]],
    );

    const build = { kind: 'build' as const, command: 'cat made a', outputDirectory: '.', timeoutMs: 30_000 };
    await client.startTask('bld_1', build);
    await client.putSource('bld_1', tarOf([{ path: 'a', content: 'b' }]), { layer: 'set_1' });
    expect(outputOf(await journal(client, 'bld_1'))).toBe('made\nb');
    await client.putWorkspace('thr_1', tarOf([]), { layer: 'set_1' });
    expect((await client.capture('thr_1', [])).files).toEqual([]);

    await client.forgetGroup(group);
    expect(await client.keptLayers(group)).toEqual([]);
    await expect(
      client.putWorkspace('thr_2', undefined, { base: 'src_none', layer: 'set_1' }),
    ).rejects.toMatchObject({ status: 404, code: 'no_layer' });
    await expect(client.putWorkspace('thr_2', undefined, { base: 'src_none' })).rejects.toMatchObject({
      code: 'not_cached',
    });
  },
);
