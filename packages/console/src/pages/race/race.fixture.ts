/** Histories of an app for tests: what the service could answer, made from a list of steps. */
import type { ApplyOf, HeadOf, RaceData, ThreadOf } from './strands.ts';

export type Step =
  | { do: 'thread' }
  | { do: 'apply' | 'queue' | 'conflict' | 'archive' | 'run'; pick: number };

const time = (n: number) => new Date(Date.UTC(2026, 0, 1) + n * 60_000).toISOString();
const id = (prefix: string, n: number) => `${prefix}_${String(n).padStart(4, '0')}`;

/** The head begins at revision 1. A step that is not possible is left out. `pick` chooses among open threads. */
export function historyOf(steps: readonly Step[]): RaceData {
  const heads: HeadOf[] = [{ revision: 1, sourceId: 'src_h1', updatedAt: time(0), applyId: null }];
  const threads: ThreadOf[] = [];
  const applies: ApplyOf[] = [];
  const closed = new Set<string>();
  const apply = (thread: ThreadOf, status: ApplyOf['status'], at: number): ApplyOf => {
    const made: ApplyOf = {
      id: id('apl', applies.length + 1),
      sequence: applies.length + 1,
      threadId: thread.id,
      status,
      baseSourceId: thread.sourceId,
      draftSourceId: thread.latestSourceId!,
      conflicts: status === 'conflicted' ? ['a.txt'] : [],
      repairs: [],
      error: null,
      createdAt: time(at),
    };
    applies.push(made);
    return made;
  };
  for (const [i, step] of steps.entries()) {
    const at = i + 1;
    if (step.do === 'thread') {
      const thread = id('thr', threads.length + 1);
      threads.push({
        id: thread,
        title: `Thread ${threads.length + 1}`,
        status: 'ready',
        sourceId: heads.at(-1)!.sourceId,
        latestSourceId: `src_${thread}`,
        forkedFrom: null,
        archivedAt: null,
        createdAt: time(at),
        updatedAt: time(at),
      });
      continue;
    }
    const open = threads.filter((thread) => !closed.has(thread.id));
    const thread = open[step.pick % open.length];
    if (!thread) continue;
    if (step.do === 'run') thread.status = 'running';
    else closed.add(thread.id);
    if (step.do === 'conflict') apply(thread, 'conflicted', at);
    if (step.do === 'queue') apply(thread, 'queued', at);
    if (step.do === 'archive') thread.status = 'archived';
    if (step.do === 'apply') {
      const { id: applyId } = apply(thread, 'applied', at);
      const revision = heads.length + 1;
      heads.push({ revision, sourceId: `src_h${revision}`, updatedAt: time(at), applyId });
    }
  }
  return { heads, threads, applies };
}
