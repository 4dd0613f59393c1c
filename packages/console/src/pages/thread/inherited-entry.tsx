/** What a fork inherited of another thread, folded under one line. */
import { Link } from '@tanstack/react-router';
import { ChevronDown, ChevronUp } from 'lucide-react';
import { Plain } from '../../code/plain.tsx';
import { plural } from '../../ui/values.tsx';
import { useThread } from './context.ts';
import type { InheritedLine } from './entries.ts';
import { Row } from './entry.tsx';
import { useParentTitle } from './parent.tsx';

/** Unfolds upwards: what the reader sees below it stays where it is. */
export function InheritedEntry({
  line: { threadId, count, isOpen },
  onUnfold,
}: {
  line: InheritedLine;
  onUnfold: (threadId: string, isOpen: boolean) => void;
}) {
  const { appId } = useThread();
  const title = useParentTitle(threadId) ?? 'a thread that is deleted';
  return (
    <Row side={<span className="md:leading-7">Before</span>}>
      <div className="flex flex-wrap items-center gap-x-3 text-12 text-ink-3 md:min-h-7">
        <button
          type="button"
          aria-expanded={isOpen}
          onClick={() => onUnfold(threadId, !isOpen)}
          className="inline-flex min-h-6 max-w-full items-center gap-1 text-left text-ink-2 hover:text-ink"
        >
          {isOpen ? <ChevronDown size={12} aria-hidden /> : <ChevronUp size={12} aria-hidden />}
          <span className="long">
            From <Plain text={title} />
          </span>
        </button>
        {isOpen && <span>{plural(count, 'message')} above, without tools</span>}
        <Link to="/apps/$appId/threads/$threadId" params={{ appId, threadId }} className="link">
          Open that thread
        </Link>
      </div>
    </Row>
  );
}
