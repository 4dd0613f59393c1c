/**
 * Everything accepted ends by itself: no run, build or apply is lost or stuck because of what a request held.
 */
import type { Made } from './actors.ts';
import { PLATFORM } from './exhibits.ts';
import { until } from './until.ts';
import type { Tally } from './tally.ts';
import type { World } from './world.ts';

/** Ends that are nobody's doing but the service's. */
const LOST = new Set([
  'sandbox_lost',
  'worker_lost',
  'workspace_unavailable',
  'agent_error',
  'model_error',
  'source_unavailable',
]);
/** A run that waits does so for a person: nobody answers here. */
const ENDED = new Set(['waiting', 'completed', 'failed', 'cancelled', 'ready', 'applied', 'conflicted']);

export interface Ends {
  /** Remembers what an answer says was accepted, if it says so. */
  note(made: Made | undefined): void;
  /** Waits for all of it. */
  check(world: World, tally: Tally, signal: AbortSignal): Promise<void>;
}

export function createEnds(): Ends {
  const accepted: { kind: 'run' | 'build' | 'apply'; path: string }[] = [];
  return {
    note(made) {
      if (made?.run?.threadId)
        accepted.push({ kind: 'run', path: `/api/threads/${made.run.threadId}/runs/${made.run.id}` });
      if (made?.build)
        accepted.push({
          kind: 'build',
          path: `${PLATFORM}/projects/${made.build.projectId}/builds/${made.build.id}`,
        });
      if (made?.apply)
        accepted.push({
          kind: 'apply',
          path: `${PLATFORM}/projects/${made.apply.projectId}/applies/${made.apply.id}`,
        });
    },
    async check({ calls: { call, wire }, key }, tally, signal) {
      for (const { kind, path } of accepted) {
        if (signal.aborted) return;
        // With its thread it may have been deleted, also while it is waited for.
        const isGone = async () =>
          (await wire.send({ method: 'GET', target: path, headers: key })).status === 404;
        if (await isGone()) continue;
        const ended = (
          await until(
            () => call(key, 'GET', path),
            (answer) => ENDED.has(answer[kind].status as string),
            path,
          ).catch(async (error: unknown) => {
            if (!(await isGone())) tally.fault(`a ${kind} that stands still`, () => String(error));
            return undefined;
          })
        )?.[kind] as Made | undefined;
        tally.count('ended');
        const code = String(ended?.error?.code ?? ended?.error ?? '').split(':')[0]!;
        if (LOST.has(code)) tally.fault(`a ${kind} that ended ${code}`, () => JSON.stringify(ended));
      }
    },
  };
}
