/** Comments of a pull request as review threads, oldest first. */
import type { Comment } from '@headrace/client';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useCallback, useRef, useState } from 'react';
import { itemsOf } from '../../api/query.ts';
import { commentsQuery } from '../../api/repositories-queries.ts';
import { useMay } from '../../api/session.ts';
import { Plain } from '../../code/plain.tsx';
import { Button, Toggle } from '../../ui/button.tsx';
import { Section } from '../../ui/page.tsx';
import { ShowMore } from '../../ui/show-more.tsx';
import { Shown, Skeleton } from '../../ui/states.tsx';
import { Status } from '../../ui/status.tsx';
import { plural, Time } from '../../ui/values.tsx';
import { CommentForm } from './comment-form.tsx';
import { Resolve } from './resolve.tsx';
import { useRefocus } from './use-refocus.ts';

interface ReviewThread {
  root: Comment;
  replies: Comment[];
}

/** A reply whose root is not read yet waits for it. */
export function threadsOf(comments: readonly Comment[]): ReviewThread[] {
  const threads = new Map<string, ReviewThread>();
  for (const comment of comments)
    if (comment.inReplyTo === null) threads.set(comment.id, { root: comment, replies: [] });
  for (const comment of comments)
    if (comment.inReplyTo !== null) threads.get(comment.inReplyTo)?.replies.push(comment);
  return [...threads.values()];
}

export function Comments({ repositoryId, number }: { repositoryId: string; number: string }) {
  const [isOpenOnly, setOpenOnly] = useState(false);
  const may = useMay('repo:update');
  const openOnly = useRef<HTMLSpanElement>(null);
  const onGone = useCallback(() => openOnly.current?.querySelector('button'), []);
  const comments = useInfiniteQuery(commentsQuery(repositoryId, number));
  const threads = threadsOf(itemsOf(comments.data));
  const open = threads.filter(({ root }) => !root.resolved);
  return (
    <Section
      title="Review"
      actions={
        threads.length > 0 && (
          <>
            <span className="text-ink-3">
              {plural(open.length, 'open thread')} of {threads.length}
            </span>
            <span ref={openOnly}>
              <Toggle kind="quiet" isSelected={isOpenOnly} onChange={setOpenOnly}>
                Open only
              </Toggle>
            </span>
          </>
        )
      }
    >
      <Shown query={comments} skeleton={<Skeleton lines={2} />}>
        {() => (
          <>
            {threads.length === 0 && <p className="px-4 pb-3 text-ink-2">Nobody has commented yet.</p>}
            <ul aria-label="Review threads">
              {(isOpenOnly ? open : threads).map((thread) => (
                <Thread
                  key={thread.root.id}
                  thread={thread}
                  repositoryId={repositoryId}
                  number={number}
                  mayWrite={may}
                  refocus={onGone}
                />
              ))}
            </ul>
            <ShowMore list={comments} />
            {may && (
              <div className="max-w-[720px] border-t border-line px-4 py-4">
                <CommentForm repositoryId={repositoryId} number={number} inReplyTo={null} />
              </div>
            )}
          </>
        )}
      </Shown>
    </Section>
  );
}

function Thread({
  thread: { root, replies },
  repositoryId,
  number,
  mayWrite,
  refocus,
}: {
  thread: ReviewThread;
  repositoryId: string;
  number: string;
  mayWrite: boolean;
  /** What has the focus when the thread is shown no longer. */
  refocus: () => HTMLElement | null | undefined;
}) {
  // Null before the first reply: only a form that was closed gives the focus back.
  const [isReplying, setReplying] = useState<boolean | null>(null);
  const onResolved = useRefocus(refocus);
  return (
    <li className="border-t border-line px-4 py-3">
      <p className="flex flex-wrap items-center gap-x-3 pb-1">
        {root.resolved ? (
          <Status status="completed" word="resolved" />
        ) : (
          <Status status="waiting" word="open" />
        )}
        {root.path !== null && (
          <span className="long font-mono text-mono text-ink-2">
            <Plain text={root.path} />
            {root.line !== null && `:${root.line}`}
          </span>
        )}
      </p>
      <ol className="flex max-w-[88ch] flex-col gap-2">
        {[root, ...replies].map((comment, at) => (
          <li key={comment.id} className={at > 0 ? 'border-l border-line pl-3' : ''}>
            <p className="text-12 text-ink-3">
              <b className="font-bold text-ink-2">
                <Plain text={comment.author} />
              </b>{' '}
              <Time at={comment.createdAt} />
            </p>
            <p className="long whitespace-pre-wrap">
              <Plain text={comment.body} />
            </p>
          </li>
        ))}
      </ol>
      {mayWrite &&
        (isReplying ? (
          <div className="max-w-[720px] pt-3">
            <CommentForm
              repositoryId={repositoryId}
              number={number}
              inReplyTo={root.id}
              onClose={() => setReplying(false)}
            />
          </div>
        ) : (
          <div className="flex flex-wrap items-center gap-2 pt-2">
            <Button autoFocus={isReplying === false} onPress={() => setReplying(true)}>
              Reply
            </Button>
            <Resolve repositoryId={repositoryId} number={number} comment={root} onResolved={onResolved} />
          </div>
        ))}
    </li>
  );
}
