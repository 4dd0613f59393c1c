/** One event: a line, and unfolded all of it, with links to what it is about. */
import { Link } from '@tanstack/react-router';
import { ChevronRight } from 'lucide-react';
import { memo } from 'react';
import { addressOf, kindOf, SubjectLink, threadAddress } from '../../app/subject-link.tsx';
import type { Subject } from '../../app/subject-link.tsx';
import { Json } from '../../app/json.tsx';
import { Plain } from '../../code/index.ts';
import { Status } from '../../ui/status.tsx';
import { CopyButton, Time } from '../../ui/values.tsx';
import { ReplayAsCode } from './as-code.tsx';
import type { Shown } from './event-log.ts';
import type { AnyEvent } from './filter.ts';

/** What it is about is of its project and thread; of an app's head, the source says more. */
const subjectOf = ({ type, data, projectId, threadId }: AnyEvent): Subject => ({
  id: (type === 'platform.head.updated' && data.sourceId) || data.id,
  projectId,
  threadId,
});

export const EventRow = memo(function EventRow({
  shown,
  project,
  isOpen,
  onOpen,
}: {
  shown: Shown;
  /** The name of its app or project, where it is to be shown. */
  project: string | undefined;
  isOpen: boolean;
  onOpen: (id: string | undefined) => void;
}) {
  const { event } = shown;
  const { id, type, data, occurredAt } = event;
  return (
    <>
      <div className="flex min-h-7 flex-wrap items-center gap-x-3 px-4 hover:bg-sunk">
        <button
          type="button"
          data-row
          aria-expanded={isOpen}
          onClick={() => onOpen(isOpen ? undefined : id)}
          className="flex min-h-7 min-w-0 flex-[1_1_300px] items-center gap-3 text-left"
        >
          <ChevronRight
            size={14}
            aria-hidden
            className={`shrink-0 text-ink-3 ${isOpen ? 'rotate-90' : ''}`}
          />
          <span className="shrink-0 text-12 text-ink-3 sm:w-20">
            <Time at={occurredAt} />
          </span>
          <span className="long font-mono text-mono">
            <Plain text={type} />
          </span>
          {data.status !== undefined && (
            // What was running then may have ended: nothing turns.
            <span className="text-12 [&_svg]:animate-none">
              <Status status={data.status} />
            </span>
          )}
        </button>
        {project !== undefined && (
          <span className="w-32 shrink-0 truncate text-12 text-ink-3 max-md:hidden">
            <Plain text={project} />
          </span>
        )}
        <About subject={subjectOf(event)} />
      </div>
      {isOpen && <Whole shown={shown} />}
    </>
  );
});

const About = ({ subject }: { subject: Subject }) => (
  <span className="flex w-52 shrink-0 items-center gap-1.5 text-12 text-ink-3 max-sm:mb-1 max-sm:ml-6.5">
    {kindOf(subject.id) ?? ''}
    <SubjectLink subject={subject} />
  </span>
);

function Whole({ shown }: { shown: Shown }) {
  const { event } = shown;
  const { projectId, threadId, runId, data, cursor } = event;
  const changes = threadAddress({ projectId, threadId }, 'changes');
  const ids = [data.id, projectId, threadId, runId, data.sourceId].filter((id) => typeof id === 'string');
  const subjects = [...new Set(ids)]
    .map((id) => ({ id, projectId, threadId }))
    .filter((subject) => addressOf(subject));
  return (
    <div className="flex flex-col gap-2 px-4 pb-3 sm:pl-10.5">
      <p className="flex flex-wrap items-center gap-x-5 gap-y-1">
        {changes && (
          <Link {...changes} className="link">
            The thread’s changes
          </Link>
        )}
        {subjects.map((subject) => (
          <span key={subject.id} className="flex items-center gap-1.5">
            {kindOf(subject.id)}
            <SubjectLink subject={subject} />
          </span>
        ))}
        <span className="flex items-center text-ink-3">
          cursor
          <CopyButton text={cursor} label="Copy the cursor" />
        </span>
        <span className="flex items-center text-ink-3">
          replay from here
          <ReplayAsCode shown={shown} />
        </span>
      </p>
      <Json label="The event" value={event} />
    </div>
  );
}
