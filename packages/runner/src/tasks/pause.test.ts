import { describe, expect, test, vi } from 'vitest';
import { capture, captureChanges } from '../capture/capture.ts';
import type { RunnerError } from '../errors.ts';
import { endOf, entriesOf, makeBench, tarStream, type Files } from '../runner.fixture.ts';
import type { Task } from './task.ts';

const SCRIPTED = {
  name: 'scripted',
  command: null,
  folder: null,
  env: {},
  home: {},
  mode: null,
  install: null,
};
const bench = await makeBench();
const canOverlay = bench !== undefined && (await bench.workspaces.trees.probe());
let counter = 0;

/** Writes a file with equal lines again and again, in the background too: half of one is no line of digits. */
const BUSY = `for name in fore back; do
  (i=0; while [ ! -e /tmp/stop ]; do i=$((i+1)); printf '%s\\n%s\\n' $i $i > $name.txt; printf x >> grows.$name; done) &
done; wait`;

async function busy(files: Files = {}, key?: string): Promise<{ task: Task; id: string }> {
  const id = `thr_${++counter}`;
  await bench!.workspaces.put(id, tarStream(files), key === undefined ? {} : { keep: { key, group: 'prj' } });
  const { task } = bench!.tasks.start(`run_${id}`, {
    kind: 'turn',
    workspaceId: id,
    agent: SCRIPTED,
    prompt: `\`\`\`sh\n${BUSY}\n\`\`\`\n`,
    permissions: 'allow',
    timeoutMs: 60_000,
  });
  for await (const entry of task.journal.read(0, AbortSignal.timeout(20_000)))
    if (entry.type === 'tool' && entry.status === 'running') break;
  return { task, id };
}

const read = (id: string, key?: string) => {
  const workspace = bench!.workspaces.get(id);
  return bench!.workspaces.use(workspace, 'capture', () =>
    (key === undefined ? capture : captureChanges)(bench!.host, workspace, []),
  );
};
const hashes = async (id: string, key?: string) =>
  (await read(id, key)).files.map(({ path, sha256 }) => `${path} ${sha256}`);
const refusal = (what: Promise<unknown>): Promise<string> =>
  what.then(
    () => 'none',
    (error: RunnerError) => `${error.status} ${error.code}`,
  );

/** Waits until its files are others than before; returns them. */
async function goesOn(task: Task, look: () => Promise<string[]>, before: string[]): Promise<string[]> {
  return vi.waitFor(
    async () => {
      await task.pause();
      const now = await look();
      await task.resume();
      expect(now).not.toEqual(before);
      return now;
    },
    { timeout: 20_000 },
  );
}

describe.skipIf(!bench)('a paused turn', () => {
  test.each([['all of it'], ...(canOverlay ? [['what was touched']] : [])])(
    'stands still with its background processes: captures of %s are equal, and then it goes on',
    async (how) => {
      const key = how === 'all of it' ? undefined : 'src_still';
      const { task, id } = await busy({ a: 'a' }, key);
      expect(await refusal(hashes(id, key))).toBe('409 busy');
      await vi.waitFor(
        async () => {
          await task.pause();
          const { length } = await hashes(id, key);
          if (length < 4) await task.resume();
          expect(length).toBeGreaterThanOrEqual(4);
        },
        { timeout: 20_000 },
      );
      const first = await hashes(id, key);
      for (let i = 0; i < 3; i++) expect(await hashes(id, key)).toEqual(first);
      expect(await refusal(task.pause())).toBe('409 busy');
      await task.resume();
      expect(await refusal(hashes(id, key))).toBe('409 busy');
      await goesOn(task, async () => hashes(id, key), first);
      await task.cancel();
      expect(endOf(await entriesOf(task)).outcome).toBe('cancelled');
      expect(bench!.workspaces.get(id)).toMatchObject({ usedBy: null, still: null });
    },
  );

  test('can be cancelled while it stands still, and is gone', async () => {
    const { task, id } = await busy();
    await task.pause();
    await task.cancel();
    expect(bench!.workspaces.get(id)).toMatchObject({ usedBy: null, still: null });
    expect(await refusal(task.pause())).toBe('409 invalid_state');
    // Nothing lives that could write.
    expect(await hashes(id)).toEqual(await hashes(id));
  });

  test('goes on by itself where its worker died, and a capture that it overtook is refused', async () => {
    const { task, id } = await busy();
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      await task.pause();
      const overtaken = refusal(read(id));
      vi.advanceTimersByTime(10_000);
      expect(await overtaken).toBe('409 changed');
    } finally {
      vi.useRealTimers();
    }
    expect(await refusal(read(id))).toBe('409 busy');
    await goesOn(task, async () => hashes(id), await goesOn(task, async () => hashes(id), []));
    await task.cancel();
  });

  test('keeps files closed that its agent has closed', async () => {
    const locked = `thr_${++counter}`;
    await bench!.workspaces.put(locked, tarStream({ a: 'a' }));
    const { task: closing } = bench!.tasks.start(`run_${locked}`, {
      kind: 'turn',
      workspaceId: locked,
      agent: SCRIPTED,
      prompt: '```sh\nchmod 0 a; touch /tmp/closed; while :; do sleep 0.1; done\n```\n',
      permissions: 'allow',
      timeoutMs: 60_000,
    });
    await vi.waitFor(
      async () => {
        await closing.pause();
        const refused = await refusal(read(locked));
        await closing.resume();
        expect(refused).toBe('409 changed');
      },
      { timeout: 20_000 },
    );
    await closing.cancel();
  });
});
