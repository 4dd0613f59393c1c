/** What a person can do beside the loop, or in its place. */
import { Link } from '@tanstack/react-router';
import { usePull } from './context.tsx';

export function TakeOver() {
  const { appId, threadId } = usePull();
  return (
    <details className="border-t border-line px-4 py-2">
      <summary className="min-h-6 text-ink-2">Take it over yourself</summary>
      <ul className="list-disc pt-1 pl-5 text-ink-2">
        <li>
          <Link to="/apps/$appId/threads/$threadId" params={{ appId, threadId }} search={{}} className="link">
            Send a message
          </Link>
          : it joins the pass or is queued behind it. A loop that is blocked or in error starts again when its
          run has completed, not where that failed or was stopped.
        </li>
        <li>Push to the branch: the thread takes your commits over when it is idle.</li>
        <li>Stop the run in the thread’s header: the loop is then blocked, and starts nothing.</li>
        <li>Switch “Merge by itself” off: a loop that is about to merge goes back to ready.</li>
        <li>
          Switch the loop off: a pass that runs goes on, and its result is pushed unless you also switch the
          push off.
        </li>
      </ul>
    </details>
  );
}
