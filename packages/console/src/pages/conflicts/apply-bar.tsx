/** How many are decided, and what can be done now. */
import type { Apply, ApplyPreview, CreateApplyInput } from '@headrace/client';
import { MAX_RESOLUTIONS } from '@headrace/client';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useDeferredValue, useMemo, useState } from 'react';
import { client } from '../../api/client.ts';
import { useMay } from '../../api/session.ts';
import { runsQuery } from '../../api/queries.ts';
import { itemsOf } from '../../api/query.ts';
import { useOffReason, useWrite } from '../../api/write.ts';
import type { Write } from '../../api/write.ts';
import { AsCode, quoted } from '../../ui/as-code.tsx';
import { Button } from '../../ui/button.tsx';
import { FaultLine } from '../../ui/fault-line.tsx';
import { Confirm } from '../../ui/dialog.tsx';
import { count, dollars, plural } from '../../ui/values.tsx';
import { compacted, isDecided, planOf } from './decisions.ts';
import type { Conflict, Entries } from './decisions.ts';
import { Faults } from './faults.tsx';
import { goFirst } from './rounds.ts';
import type { Decisions } from './use-decisions.ts';
import type { Draft, Sending } from './use-send.ts';

export function ApplyBar({
  draft,
  preview,
  decisions,
  sending,
  onAgent,
  onNext,
}: {
  draft: Draft;
  preview: ApplyPreview;
  decisions: Decisions & { entries: Entries };
  sending: Sending;
  onAgent: (applyId: string) => void;
  onNext: () => void;
}) {
  const { conflicts } = preview;
  const { entries, undo, isLoose } = decisions;
  const mayNot = useOffOfApply();
  const agent = useAgent(draft, onAgent);
  const off = mayNot ?? (sending.isSending || agent.isSending ? 'It is being sent.' : null);
  const all = conflicts.map(({ path }) => entries.get(path)!);
  const decided = all.filter(isDecided).length;
  const moved = all.filter(({ isMoved }) => isMoved).length;
  const open = conflicts.length - decided;
  // With thousands of conflicts it takes longer than a key may.
  const read = useDeferredValue(entries);
  const { sent, first } = useMemo(() => wayOf(conflicts, read), [conflicts, read]);
  const why =
    off ??
    (open > 0
      ? `${plural(open, 'conflict is', 'conflicts are')} open.`
      : first === null
        ? `${count(sent.length)} decisions are more than the ${count(MAX_RESOLUTIONS)} of one apply, even by folders. Give whole folders one side.`
        : null);
  const filesLeft = sending.filesLeft ?? first?.length ?? 0;
  // Texts and other names go into the draft before the apply: that is more than one call.
  const isOneCall = read === entries && all.every(({ choice }) => choice === 'head' || choice === 'draft');
  return (
    <div className="top-(--bar) z-10 bg-paper md:sticky">
      <div className="flex min-h-12 flex-wrap items-center gap-2 border-t border-line px-4 py-1.5">
        <p role="status" className="mr-auto">
          {open > 0 ? (
            <>
              {plural(open, 'conflict')} open
              {moved > 0 && <span className="text-wait">, {moved} moved since you decided</span>}
            </>
          ) : (
            'All conflicts are decided'
          )}
          {filesLeft > 0 && (
            <span className="block text-12 text-ink-2">
              {sending.isSending
                ? `Files of the head that still go into the draft: ${count(filesLeft)}.`
                : `One apply takes ${count(MAX_RESOLUTIONS)} decisions: ${plural(filesLeft, 'file')} of the head will go into the draft before it.`}
            </span>
          )}
        </p>
        {undo && (
          <Button kind="quiet" onPress={undo} aria-keyshortcuts="u">
            Undo
          </Button>
        )}
        {open > 0 && (
          <Button onPress={onNext} aria-keyshortcuts="n">
            Next open
            <kbd className="hidden font-mono text-11 text-ink-3 sm:inline" aria-hidden>
              n
            </kbd>
          </Button>
        )}
        <Agent draft={draft} count={conflicts.length} decided={decided} write={agent} off={off} />
        <Button kind="primary" offBecause={why} onPress={() => sending.send(preview, entries)}>
          {sending.isSending ? 'Applying …' : `Apply ${plural(conflicts.length, 'decision')}`}
        </Button>
        {isOneCall && first?.length === 0 && <AsCode {...applyCode(draft, preview.headSourceId, sent)} />}
      </div>
      <Faults
        sending={sending}
        isLoose={isLoose}
        off={off}
        onAnyway={() => sending.send(preview, entries, true)}
      />
    </div>
  );
}

/** What is sent when all are decided, and what goes into the draft before it; null where even that is not enough. */
function wayOf(conflicts: readonly Conflict[], entries: Entries) {
  const { open, resolutions } = planOf(conflicts, entries, () => undefined);
  if (open.length > 0) return { sent: [], first: [] };
  const sent = compacted(conflicts, resolutions);
  return { sent, first: sent.length > MAX_RESOLUTIONS ? goFirst(conflicts, resolutions) : [] };
}

/** Why an apply cannot be asked for. */
export function useOffOfApply(): string | null {
  const off = useOffReason();
  const [mayHead, mayThread] = [useMay('project:update'), useMay('thread:update')];
  return off ?? (mayHead && mayThread ? null : 'Your role may not apply drafts.');
}

const useAgent = ({ appId, threadId }: Draft, onSent: (applyId: string) => void) =>
  useWrite({
    intent: `apply ${threadId}`,
    call: (body: CreateApplyInput, options) => client.applies.create(appId, threadId, body, options),
    onDone: ({ id }) => onSent(id),
  });

/** The whole draft is left to the agent: it does not overrule decisions, and takes none. */
function Agent({
  draft: { appId, threadId, sourceId },
  count,
  decided,
  write,
  off,
}: {
  draft: Draft;
  count: number;
  decided: number;
  write: Write<CreateApplyInput, Apply>;
  off: string | null;
}) {
  const [isAsked, setAsked] = useState(false);
  const runs = useInfiniteQuery(runsQuery(appId, threadId));
  const cost = itemsOf(runs.data).reduce((sum, { usage }) => sum + usage.costMicros, 0);
  return (
    <>
      <Button offBecause={off} onPress={() => setAsked(true)}>
        {/* One text: the gap of a button would part it. */}
        <span>
          Ask the agent instead
          {runs.data && (
            <>
              {` (${runs.hasNextPage ? 'over ' : ''}${dollars(cost)}`}
              <span className="max-sm:hidden"> so far</span>)
            </>
          )}
        </span>
      </Button>
      <FaultLine fault={write.fault} />
      <Confirm
        title="Leave the conflicts to the agent"
        verb="Ask the agent"
        isOpen={isAsked}
        onClose={() => setAsked(false)}
        onConfirm={() => write.send({ expectedSourceId: sourceId, conflictResolution: 'agent' })}
      >
        <p>
          An agent repairs {count === 1 ? 'the conflict' : `all ${count} conflicts`}, and the result is
          applied if its checks pass. It works within what is left of the thread’s spend limit
          {runs.data && `; the thread has cost ${dollars(cost)} so far`}.
        </p>
        {decided > 0 && (
          <p className="mt-2">
            Your {plural(decided, 'decision')} {decided === 1 ? 'is' : 'are'} not sent with it, and stay here
            in case the repair fails.
          </p>
        )}
      </Confirm>
    </>
  );
}

/** The apply as code; own texts go into the draft before it. Without a head, it is merged with that of its turn. */
export function applyCode(
  { appId, threadId, sourceId }: Draft,
  headSourceId: string | null,
  resolutions: readonly { path: string; take: 'head' | 'draft' }[],
) {
  const body = {
    expectedSourceId: sourceId,
    conflictResolution: 'manual' as const,
    ...(headSourceId !== null && { expectedHeadSourceId: headSourceId }),
    ...(resolutions.length > 0 && { resolutions }),
  };
  const options = resolutions.map(({ path, take }) => ` --resolve ${quoted(`${path}=${take}`)}`).join('');
  return {
    method: 'POST' as const,
    path: `/api/platform/v1/apps/${appId}/threads/${threadId}/apply`,
    body: { ...body, clientOperationId: 'the same as the idempotency-key' },
    ts: `await client.applies.create('${appId}', '${threadId}', ${JSON.stringify(body, null, 2)}).done();`,
    cli: `headrace apply ${threadId} --app ${appId}${options} --yes`,
  };
}
