/** What the race says about threads, in the ledger, in the table and for screen readers. */
import { plural } from '../../ui/values.tsx';
import type { Strand } from './strands.ts';

export const titleOf = (strand: Strand): string =>
  strand.thread ? (strand.thread.title ?? 'Untitled thread') : `Thread …${strand.threadId.slice(-6)}`;

/** What moved the head to a revision whose thread is not drawn. */
export const moverOf = (mover: Strand | null): string =>
  mover === null ? 'An apply' : mover.thread ? titleOf(mover) : 'Another thread';

/** A status as `Status` knows it, and the word for it here. */
export function lookOf(status: string): { status: string; word: string } {
  return status === 'joining' ? { status: 'queued', word: 'joining' } : { status, word: status };
}

export const ordinal = (n: number): string => {
  const tail = n % 100;
  const ending = tail > 10 && tail < 14 ? 'th' : (['th', 'st', 'nd', 'rd'][n % 10] ?? 'th');
  return `${n}${ending}`;
};

/** Why the thread is where it is, if its status does not say so. */
export function noteOf({ ending, apply, position, thread }: Strand): string {
  if (ending === 'queue') {
    if (!position) return 'joins now';
    const repair = apply?.repairs.at(-1);
    const isMended = repair !== undefined && repair.report === null && repair.error === null;
    return `${ordinal(position)} in the queue${isMended ? ', the agent resolves a conflict' : ''}`;
  }
  if (ending === 'conflict')
    return apply?.conflicts.length
      ? plural(apply.conflicts.length, 'path in conflict', 'paths in conflict')
      : 'the head had moved';
  if (ending === 'failure') return 'the apply failed';
  const pull = thread?.primaryPullRequest;
  if (pull) return `pull request #${pull.number}, ${pull.state}`;
  return '';
}

/** One sentence for who does not see the drawing. */
export function summaryOf(strands: readonly Strand[], revision: number | null): string {
  const count = (endings: Strand['ending'][]) =>
    strands.filter(({ ending }) => endings.includes(ending)).length;
  const head = revision === null ? 'There is no head' : `The head is at revision ${revision}`;
  return `${head}. ${plural(count(['joined']), 'thread')} joined it, ${count(['queue'])} in the queue, ${count(['conflict', 'failure'])} stopped before it, ${count(['open'])} open.`;
}
