import type { ApplyPreview } from '@headrace/client';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { client } from '../../api/client.ts';
import { writeFaultOf } from '../../api/faults.ts';
import type { Fault } from '../../api/faults.ts';
import { applyPreviewQuery, conflictFileQuery, patchesQuery, threadQuery } from '../../api/queries.ts';
import { once } from '../../api/write.ts';
import type { Entries } from './decisions.ts';
import { sendDecisions } from './send.ts';
import type { Outcome, Service } from './send.ts';

export interface Draft {
  appId: string;
  threadId: string;
  sourceId: string;
}

export interface Sending {
  isSending: boolean;
  fault: Fault | null;
  /** Of the last try, if it was not sent. */
  outcome: Exclude<Outcome, { end: 'sent' }> | null;
  clear(): void;
  send(preview: ApplyPreview, entries: Entries, accepts?: boolean): void;
}

/** Sends decisions. Whatever happens, they stay. */
export function useSend(
  draft: Draft,
  on: { sent: (applyId: string) => void; edited: (entries: Entries) => void },
): Sending {
  const queries = useQueryClient();
  const [state, setState] = useState<Pick<Sending, 'isSending' | 'fault' | 'outcome'>>(REST);
  const { appId, threadId } = draft;
  const thread = threadQuery(appId, threadId);

  const service: Service = {
    edit: (body) =>
      once(`edit ${threadId} ${JSON.stringify(body)}`, (options) =>
        client.edits.create(appId, threadId, body, options),
      ),
    preview: async (body) => await client.applies.preview(appId, threadId, body),
    diff: async (head, sourceId, paths) =>
      (await queries.fetchQuery(patchesQuery(appId, head, sourceId, paths))).files,
    apply: (body) =>
      once(`apply ${threadId} ${JSON.stringify(body)}`, (options) =>
        client.applies.create(appId, threadId, body, options),
      ),
    onEdited({ sourceId, preview, entries }) {
      queries.setQueryData(applyPreviewQuery(appId, threadId, sourceId).queryKey, preview);
      queries.setQueryData(thread.queryKey, (old) => old && { ...old, latestSourceId: sourceId });
      on.edited(entries);
    },
  };

  async function run(preview: ApplyPreview, entries: Entries, accepts: boolean): Promise<void> {
    const { sourceId } = draft;
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
      setState(REST);
      on.sent(outcome.apply.id);
    } else setState({ isSending: false, fault: null, outcome });
    // A draft of somebody else's, or a head that moved: both are read again, and nothing is sent.
    if (outcome.end === 'stale')
      await Promise.all([
        queries.invalidateQueries({ queryKey: thread.queryKey, exact: true }),
        queries.invalidateQueries({ queryKey: applyPreviewQuery(appId, threadId, sourceId).queryKey }),
      ]);
  }

  return {
    ...state,
    clear: () => setState(REST),
    send(preview, entries, accepts = false) {
      setState({ ...REST, isSending: true });
      run(preview, entries, accepts).catch((error: unknown) =>
        setState({ isSending: false, fault: writeFaultOf(error), outcome: null }),
      );
    },
  };
}

const REST = { isSending: false, fault: null, outcome: null };
