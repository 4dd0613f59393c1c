/**
 * Clients that queue applies: each of them twice at once under one key, again and again until it is
 * answered.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Caller } from '../../harness/http.ts';
import type { Random } from '../../harness/random.ts';
import { deliver } from '../lib/delivery.ts';
import type { Delivered, Weather, Write } from '../lib/delivery.ts';
import { decisionOf, PINNED, threadPath } from './drafts.ts';
import type { Draft } from './world.ts';

export interface Applying {
  callers: readonly Caller[];
  weather: Weather;
  signal: AbortSignal;
  random: Random;
  failures: string[];
  /** Decisions that the moved head refused at their admission. */
  stale: number;
}

interface EndedApply {
  id: string;
  status: string;
  error: string | null;
}

const COPIES = 2;
const READ_LIMIT_MS = 60_000;
const END_LIMIT_MS = 120_000;
const SOON_MS = 150;

/**
 * Queues the draft's apply; of a pinned one a single decision. Returns the apply's id, null when it was
 * refused by the moved head.
 */
export async function queue(applying: Applying, draft: Draft): Promise<string | null> {
  const decision = draft.kind === 'pinned' ? await decide(applying, draft) : decisionOf(draft);
  const key = `torture-apply-${draft.app.id}-${draft.number}-${draft.accepted.length}-${applying.random.below(1e9)}`;
  const write = {
    method: 'POST',
    path: `${draft.thread}/apply`,
    body: { expectedSourceId: draft.sourceId, clientOperationId: key, ...decision },
    key,
  };
  const { status, text } = await sendCopies(applying, write);
  if (status === 202) {
    const { apply } = JSON.parse(text) as { apply: { id: string } };
    draft.accepted.push(apply.id);
    if (draft.kind === 'archived') await archive(applying, draft);
    return apply.id;
  }
  if (draft.kind === 'pinned' && status === 409 && text.includes('"stale_head"')) applying.stale++;
  else applying.failures.push(`${write.path} (${draft.kind}): ${status} ${text.slice(0, 300)}`);
  return null;
}

async function sendCopies(
  { callers, weather, signal, random, failures }: Applying,
  write: Write,
): Promise<Delivered> {
  const answers = await Promise.all(
    Array.from({ length: COPIES }, (_, copy) =>
      deliver(callers, write, { random: random.fork(`${write.key} ${copy}`), weather, signal }),
    ),
  );
  const [first] = answers;
  const other = answers.find((answer) => answer.status !== first!.status || answer.text !== first!.text);
  if (other)
    failures.push(
      `${write.key}: copies were answered differently: ${first!.status} ${first!.text.slice(0, 300)} and ${other.status} ${other.text.slice(0, 300)}`,
    );
  return first!;
}

/** Takes one side of the file in conflict, at the head that was looked at. */
async function decide(applying: Applying, { app, number }: Draft): Promise<object> {
  const { head } = (await read(applying, `${app.path}/source-head`)) as { head: { sourceId: string } };
  return {
    conflictResolution: 'manual',
    expectedHeadSourceId: head.sourceId,
    resolutions: [{ path: PINNED, take: takenBy(number) }],
  };
}

/** What a pinned draft's resolutions take. */
export const takenBy = (number: number): 'head' | 'draft' => (Math.floor(number / 16) % 2 ? 'head' : 'draft');

async function archive(
  { callers, weather, signal, random, failures }: Applying,
  { thread }: Draft,
): Promise<void> {
  await sleep(random.below(SOON_MS), undefined, { signal });
  const { status, text } = await deliver(
    callers,
    { method: 'PATCH', path: threadPath(thread), body: { archived: true }, key: `torture-archive-${thread}` },
    { random, weather, signal },
  );
  if (status !== 200) failures.push(`archiving ${thread}: ${status} ${text.slice(0, 300)}`);
}

/** Resolves when the apply is no longer queued. */
export async function ended(applying: Applying, draft: Draft, id: string): Promise<EndedApply> {
  for (const deadline = Date.now() + END_LIMIT_MS; Date.now() < deadline;) {
    const { apply } = (await read(applying, `${draft.app.path}/applies/${id}?waitSeconds=5`)) as {
      apply: EndedApply;
    };
    if (apply.status !== 'queued') return apply;
  }
  throw new Error(`The apply ${id} (${draft.kind}) has not ended within ${END_LIMIT_MS / 1000} s`);
}

/** A GET that is asked of one api after the other until one answers. */
async function read({ callers, signal, random }: Applying, path: string): Promise<unknown> {
  let why = '';
  for (
    const deadline = Date.now() + READ_LIMIT_MS;
    Date.now() < deadline;
    await sleep(50, undefined, { signal })
  ) {
    try {
      const { status, text } = await random.pick(callers).send('GET', path, { limitMs: 20_000, signal });
      if (status === 200) return JSON.parse(text);
      why = `${status} ${text.slice(0, 300)}`;
      if (status !== 503) break;
    } catch (error) {
      signal.throwIfAborted();
      why = String(error);
    }
  }
  throw new Error(`GET ${path} was not answered: ${why}`);
}
