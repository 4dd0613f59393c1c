/** What sending a message does, and what may be attached to it. */
import type { Run, Thread } from '@headrace/client';
import { bytes, plural } from '../../ui/values.tsx';
import { isActive } from './entries.ts';

export interface Outcome {
  kind: 'starts' | 'joins' | 'queues' | 'refused';
  text: string;
}

export interface Situation {
  thread: Pick<
    Thread,
    'archivedAt' | 'sealedAt' | 'blockedOn' | 'runSteerable' | 'stopRequestedAt' | 'modelId'
  >;
  runs: Pick<Run, 'status' | 'kind' | 'modelId'>[];
  /** Null: the thread's, or that of the settings. */
  modelId: string | null;
}

/** By the service's own rule: a message joins the only open run, if it runs, accepts messages and has the same model. */
export function outcomeOf({ thread, runs, modelId }: Situation): Outcome {
  if (thread.archivedAt !== null)
    return refused('The thread is archived. Take it out of the archive to go on.');
  if (thread.sealedAt !== null) return refused('The thread’s work is final: it takes no more messages.');
  const [blocker] = thread.blockedOn;
  if (blocker !== undefined)
    return refused(`Messages can be sent when its ${blocker.split(':')[0] ?? 'work'} has ended.`);
  const open = runs.filter(isActive);
  const [run] = open;
  if (!run) return { kind: 'starts', text: 'Starts a run.' };
  if (run.kind === 'repair')
    return refused('An agent repairs an apply. Messages can be sent when it has ended.');
  if (joins(run, open.length, { thread, runs, modelId }))
    return { kind: 'joins', text: 'Joins this run: the agent reads it while it works.' };
  const why = whyNot(run, open.length, { thread, runs, modelId });
  return { kind: 'queues', text: `Queues behind ${plural(open.length, 'run')}${why}.` };
}

const refused = (text: string): Outcome => ({ kind: 'refused', text });

const joins = (run: Situation['runs'][number], open: number, { thread, modelId }: Situation): boolean =>
  open === 1 &&
  run.status !== 'queued' &&
  thread.runSteerable === true &&
  thread.stopRequestedAt === null &&
  isSameModel(run, thread, modelId);

const isSameModel = (
  run: Situation['runs'][number],
  thread: Situation['thread'],
  modelId: string | null,
): boolean => (modelId ?? thread.modelId ?? run.modelId) === run.modelId;

function whyNot(run: Situation['runs'][number], open: number, { thread, modelId }: Situation): string {
  if (open > 1 || run.status === 'queued') return '';
  if (thread.stopRequestedAt !== null) return ', which stops';
  if (thread.runSteerable !== true) return ', which takes no messages';
  return isSameModel(run, thread, modelId) ? '' : ', which has another model';
}

export const LONGEST_TEXT = 100_000;
export const MOST_FILES = 10;
/** A request has at most 64 MiB, and base64 makes four bytes of three. */
export const MOST_BYTES = 46 * 1024 * 1024;

interface Sized {
  name: string;
  size: number;
}

/** What is wrong with adding these files; null for nothing. */
export function faultOfFiles(present: Sized[], added: Sized[]): string | null {
  if (present.length + added.length > MOST_FILES) return `A message has at most ${MOST_FILES} attachments.`;
  const total = [...present, ...added].reduce((sum, { size }) => sum + size, 0);
  if (total > MOST_BYTES)
    return `The attachments would have ${bytes(total)}; at most ${bytes(MOST_BYTES)} can be sent.`;
  return null;
}

const TYPE = /^[A-Za-z0-9!#$&^_.+-]+\/[A-Za-z0-9!#$&^_.+-]+$/;

/** A browser names no type for files that it does not know, and adds parameters to some. */
export function mediaTypeOf(type: string): string {
  const plain = type.split(';')[0]?.trim() ?? '';
  return TYPE.test(plain) ? plain : 'application/octet-stream';
}

/** Why the text cannot be sent; null if it can. */
export function faultOfText(content: string): string | null {
  if (content.trim() === '') return 'Write a message first.';
  const over = content.length - LONGEST_TEXT;
  return over > 0 ? `The message is ${plural(over, 'character')} too long: attach it as a file.` : null;
}
