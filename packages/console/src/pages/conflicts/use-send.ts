import { HeadraceError } from '@headrace/client';
import type { ApplyPreview } from '@headrace/client';
import { useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { client, signInCount, untilSignedIn } from '../../api/client.ts';
import { writeFaultOf } from '../../api/faults.ts';
import type { Fault } from '../../api/faults.ts';
import { applyPreviewQuery, conflictFileQuery, patchesQuery, threadQuery } from '../../api/queries.ts';
import { once } from '../../api/write.ts';
import { notify } from '../../ui/notices.tsx';
import { useIsMounted } from '../../ui/use-is-mounted.ts';
import type { Entries } from './decisions.ts';
import { sendDecisions } from './send.ts';
import type { Outcome, State as SendState, Service } from './send.ts';

export interface Draft {
  appId: string;
  threadId: string;
  sourceId: string;
}

export interface Sending {
  isSending: boolean;
  /** Of the head's files that go into the draft before the apply; null where none do. */
  filesLeft: number | null;
  /** Texts or the head's files went into the draft in the last try. */
  isEdited: boolean;
  fault: Fault | null;
  /** Of the last try, if it was not sent. */
  outcome: Exclude<Outcome, { end: 'sent' }> | null;
  clear(): void;
  send(preview: ApplyPreview, entries: Entries, accepts?: boolean): void;
}

/** Sends decisions. Whatever happens, they stay. */
export function useSend(
  draft: Draft,
  on: {
    sent: (applyId: string) => void;
    edited: () => void;
    /** The draft's source that is sent; null when the send has ended. */
    from: (sourceId: string | null) => void;
  },
): Sending {
  const queries = useQueryClient();
  const [state, setState] = useState<Omit<Sending, 'clear' | 'send'>>(REST);
  const isHere = useIsMounted();
  const { appId, threadId } = draft;
  const thread = threadQuery(appId, threadId);
  // What comes after an edit can fail: the next try goes on from there.
  const edited = useRef<{ intent: string; id: string } | null>(null);
  const latest = useRef<SendState | null>(null);

  const service: Service = {
    async edit(body) {
      const intent = `edit ${threadId} ${JSON.stringify(body)}`;
      if (edited.current?.intent === intent) return edited.current;
      const { id } = await once(intent, (options) => client.edits.create(appId, threadId, body, options));
      return (edited.current = { intent, id });
    },
    preview: async (body) => await client.applies.preview(appId, threadId, body),
    diff: async (head, sourceId, paths) =>
      (await queries.fetchQuery(patchesQuery(appId, head, sourceId, paths))).files,
    file: async (head, path) => await client.sources.file(appId, head, { path }),
    onRound: (filesLeft) => setState((before) => ({ ...before, filesLeft })),
    apply: (body) =>
      once(`apply ${threadId} ${JSON.stringify(body)}`, (options) =>
        client.applies.create(appId, threadId, body, options),
      ),
    isLeft: () => !isHere.current,
    onEdited(state) {
      setState((before) => ({ ...before, isEdited: true }));
      const { sourceId, preview } = (latest.current = state);
      queries.setQueryData(applyPreviewQuery(appId, threadId, sourceId).queryKey, preview);
      queries.setQueryData(thread.queryKey, (old) => old && { ...old, latestSourceId: sourceId });
      on.edited();
      on.from(sourceId);
    },
  };

  function end(how: Partial<Pick<Sending, 'fault' | 'outcome'>> = {}): void {
    setState(({ isEdited }) => ({ ...REST, isEdited, ...how }));
    on.from(null);
    if ((how.fault || how.outcome) && !isHere.current) notify(STOPPED, 'fail');
  }

  async function run(accepts: boolean): Promise<void> {
    const { sourceId, preview, entries } = latest.current!;
    const { headSourceId } = preview;
    const texts = preview.conflicts.filter(({ path }) => entries.get(path)?.choice === 'text');
    const files = new Map(
      await Promise.all(
        texts.map(async ({ path }) => {
          const of = { sourceId, headSourceId, path };
          return [path, await queries.fetchQuery(conflictFileQuery(appId, threadId, of))] as const;
        }),
      ),
    );
    const outcome = await sendDecisions({ sourceId, preview, entries }, service, {
      fileOf: (path) => files.get(path),
      accepts,
    });
    if (outcome.end === 'sent') {
      end();
      on.sent(outcome.apply.id);
    } else end({ outcome });
    // A draft of somebody else's, or a head that moved: both are read again, and nothing is sent.
    if (outcome.end === 'stale')
      await Promise.all([
        queries.invalidateQueries({ queryKey: thread.queryKey, exact: true }),
        // Of all drafts: a round has made another one.
        queries.invalidateQueries({ queryKey: ['app', appId, 'preview of', threadId] }),
      ]);
  }

  /** A session that ends on the way is begun again over the page; then the same send goes on, under its key. */
  async function runSignedIn(accepts: boolean): Promise<void> {
    const before = signInCount();
    try {
      await run(accepts);
    } catch (error) {
      if (!(error instanceof HeadraceError) || error.status !== 401) throw error;
      await untilSignedIn(before);
      await runSignedIn(accepts);
    }
  }

  return {
    ...state,
    clear: () => setState(REST),
    send(preview, entries, accepts = false) {
      setState({ ...REST, isSending: true });
      latest.current = { sourceId: draft.sourceId, preview, entries };
      on.from(draft.sourceId);
      runSignedIn(accepts).catch((error: unknown) => end({ fault: writeFaultOf(error) }));
    },
  };
}

const REST = { isSending: false, filesLeft: null, isEdited: false, fault: null, outcome: null };
const STOPPED =
  'The draft was not applied: you left its page. Your decisions are kept; apply again to go on.';
