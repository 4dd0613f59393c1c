import { Status } from '../../ui/status.tsx';
import type { Work } from './work.ts';

/** `isMore`: the threads are not all counted. */
export function WorkOf({ work, isMore }: { work: Work | undefined; isMore: boolean }) {
  const said = (count: number, word: string) => `${count}${isMore ? '+' : ''} ${word}`;
  return (
    <span className="flex gap-3 empty:hidden md:w-56 md:justify-end md:empty:block">
      {work?.waiting ? <Status status="waiting" word={said(work.waiting, 'waiting')} /> : null}
      {work?.running ? <Status status="running" word={said(work.running, 'running')} /> : null}
      {work?.queued ? <Status status="queued" word={said(work.queued, 'queued')} /> : null}
    </span>
  );
}
