import { once } from 'node:events';
import { RunnerError } from '@headrace/runner/client';
import type { RunnerClient } from '@headrace/runner/client';
import { describe, expect, test } from 'vitest';
import { guardedClient } from './guarded-client.ts';
import type { Guard } from './guarded-client.ts';

function guarded(standing: Guard['standing']) {
  const lost = new AbortController();
  const asked: string[] = [];
  const client = {
    tasks: async () => (asked.push('tasks'), []),
    status: () => new Promise(() => {}),
    async *journal(...[, , signal, only]: Parameters<RunnerClient['journal']>) {
      asked.push(`journal ${only}`);
      yield { type: 'started', offset: 0, at: '' };
      await once(signal!, 'abort');
      throw new Error('broken');
    },
  } as unknown as RunnerClient;
  return {
    lost,
    asked,
    at: guardedClient(
      () => client,
      () => ({ standing, signal: lost.signal }),
    ),
  };
}

const faultOf = async (call: Promise<unknown>) =>
  call.then(
    () => null,
    (error: unknown) => (error instanceof RunnerError ? error.status : error),
  );

describe('a runner', () => {
  test('that lives is asked; what is under way ends when it is lost', async () => {
    const { at, lost, asked } = guarded('here');
    expect(await at.tasks()).toEqual([]);
    expect(asked).toEqual(['tasks']);
    const status = faultOf(at.status());
    const entries = at.journal('run_1', 0, undefined, 'draft')[Symbol.asyncIterator]();
    expect((await entries.next()).value).toMatchObject({ type: 'started' });
    const reading = faultOf(entries.next());
    lost.abort();
    expect([await status, await reading]).toEqual([503, 503]);
    expect(asked).toEqual(['tasks', 'journal draft']);
  });

  test('that is lost is asked nothing', async () => {
    const { at, asked } = guarded('lost');
    expect(await faultOf(at.tasks())).toBe(503);
    expect(await faultOf(at.journal('run_1')[Symbol.asyncIterator]().next())).toBe(503);
    expect(asked).toEqual([]);
  });

  test('that is gone has nothing, and everything of it has ended', async () => {
    const { at, asked } = guarded('gone');
    expect(await at.tasks()).toEqual([]);
    expect(await at.workspaceExists('thr_1')).toBe(false);
    expect(await faultOf(at.deleteTask('bld_1'))).toBeNull();
    expect(await faultOf(at.deleteWorkspace('thr_1'))).toBeNull();
    expect(await faultOf(at.task('bld_1'))).toBe(404);
    expect(await faultOf(at.startTask('run_1', {} as never))).toBe(404);
    expect(asked).toEqual([]);
  });
});
