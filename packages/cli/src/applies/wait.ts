/** The wait for the end of an apply, with words about what happens to it meanwhile. */
import { setTimeout as sleep } from 'node:timers/promises';
import { WaitTimeoutError } from '@headrace/client';
import type { Apply } from '@headrace/client';
import type { Cli } from '../core/cli.ts';
import { EXIT } from '../core/exit.ts';
import { Fault, interrupted } from '../core/fault.ts';
import { oneLine } from '../terminal/escape.ts';
import { countOf } from '../terminal/count.ts';

const LOOK_MS = 2_000;
/** Most applies end before there is anything to say. */
const FIRST_LOOK_MS = 700;

/**
 * Waits until an apply has ended, whatever its outcome. Ctrl-C and `timeoutMs` (20 minutes) end the wait, not the apply;
 * both say how to look at it.
 */
export async function waitForApply(cli: Cli, { id, projectId }: Apply, timeoutMs?: number): Promise<Apply> {
  const hint = `The apply goes on: headrace applies show ${id} --wait`;
  const interrupt = new AbortController();
  const ended = new AbortController();
  const stopListening = cli.onInterrupt(() => interrupt.abort(interrupted(hint)));
  const talk = narrate(cli, { id, projectId }, AbortSignal.any([interrupt.signal, ended.signal]));
  try {
    return await cli.client.applies.get(projectId, id).done({ timeoutMs, signal: interrupt.signal });
  } catch (error) {
    if (interrupt.signal.aborted) throw interrupt.signal.reason;
    if (error instanceof WaitTimeoutError) throw new Fault(EXIT.timeout, error.message, { hint });
    throw error;
  } finally {
    stopListening();
    ended.abort();
    await talk;
  }
}

/** Says what has changed, until the signal. Its own reads may fail: the wait goes on without words. */
async function narrate(
  cli: Cli,
  { id, projectId }: Pick<Apply, 'id' | 'projectId'>,
  signal: AbortSignal,
): Promise<void> {
  const said = new Set<string>();
  try {
    await sleep(FIRST_LOOK_MS, undefined, { signal });
    for (;;) {
      const apply = await cli.client.applies.get(projectId, id, { signal });
      for (const text of wordsOf(apply, apply.repairs.length ? 0 : await aheadOf(cli, apply, signal))) {
        if (!said.has(text)) cli.say(cli.paintTalk('dim', text));
        said.add(text);
      }
      await sleep(LOOK_MS, undefined, { signal });
    }
  } catch {
    // The end of the wait, or a service that is away.
  }
}

/** How many applies of the app are merged before this one. An apply under repair has given its turn away. */
async function aheadOf(cli: Cli, { projectId, sequence }: Apply, signal: AbortSignal): Promise<number> {
  const { items } = await cli.client.applies.list(projectId, { limit: 200, signal });
  return items.filter((one) => one.status === 'queued' && one.sequence < sequence && one.repairs.length === 0)
    .length;
}

export function wordsOf(apply: Apply, ahead: number): string[] {
  if (apply.status !== 'queued') return [];
  const attempts = apply.repairs.map(({ error }, at) =>
    error === null
      ? `An agent repairs ${countOf(apply.conflicts.length, 'file')}, attempt ${at + 1}. → headrace attach ${apply.threadId}`
      : `Attempt ${at + 1} was refused: ${oneLine(error)}`,
  );
  if (attempts.length > 0) return attempts;
  if (ahead === 0) return ['Merging with the head …'];
  return [`In the queue: ${ahead === 1 ? '1 apply is' : `${ahead} applies are`} merged before this one.`];
}
