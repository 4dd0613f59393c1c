/** A draft that merges clean: what it would change, and the button. */
import type { ApplyPreview } from '@headrace/client';
import { useQuery } from '@tanstack/react-query';
import { client } from '../../api/client.ts';
import { threadQuery } from '../../api/queries.ts';
import { useWrite } from '../../api/write.ts';
import { AsCode } from '../../ui/as-code.tsx';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { Section } from '../../ui/page.tsx';
import { plural } from '../../ui/values.tsx';
import { ThreeWay } from '../applies/three-way.tsx';
import { applyCode, useOffOfApply } from './apply-bar.tsx';
import { ChangeList } from './change-list.tsx';
import { Faults } from './faults.tsx';
import { lostHeads } from './send.ts';
import type { Decisions } from './use-decisions.ts';
import type { Draft, Sending } from './use-send.ts';

export function Clean({
  draft,
  preview,
  decisions,
  sending,
  onSent,
}: {
  draft: Draft;
  preview: ApplyPreview;
  decisions: Decisions & { entries: NonNullable<Decisions['entries']> };
  sending: Sending;
  onSent: (applyId: string) => void;
}) {
  const { appId, threadId, sourceId } = draft;
  const { changes, headSourceId } = preview;
  const thread = useQuery(threadQuery(appId, threadId));
  const mayNot = useOffOfApply();
  const write = useWrite({
    intent: `apply ${threadId}`,
    call: (body: Parameters<typeof client.applies.create>[2], options) =>
      client.applies.create(appId, threadId, body, options),
    onDone: ({ id }) => onSent(id),
  });
  // What was decided by own texts is for one head; a draft without conflicts is merged with the head of its turn.
  const { entries } = decisions;
  const isDecided =
    [...entries.values()].some(({ choice }) => choice === 'text' || choice === 'rename') ||
    lostHeads({ preview, entries }).length > 0;
  const apply = () =>
    isDecided
      ? sending.send(preview, entries)
      : write.send({ expectedSourceId: sourceId, conflictResolution: 'manual' });
  const isSending = write.isSending || sending.isSending;
  const off = mayNot ?? (isSending ? 'It is being sent.' : null);
  const fault = sending.fault ?? write.fault;
  return (
    <>
      <div className="flex flex-wrap items-center gap-2 border-t border-line px-4 py-3">
        <p role="status" className="mr-auto">
          {changes.length === 0
            ? 'It changes no file of the head.'
            : `No conflicts. ${plural(changes.length, 'file')} of the head would change.`}
        </p>
        <ButtonLink
          to="/apps/$appId/diff"
          params={{ appId }}
          search={{ from: headSourceId, to: sourceId, thread: threadId }}
        >
          Compare head and draft
        </ButtonLink>
        <Button kind="primary" offBecause={off} onPress={apply}>
          {isSending ? 'Applying …' : 'Apply'}
        </Button>
        <AsCode {...applyCode(draft, isDecided ? headSourceId : null, [])} />
      </div>
      <Faults
        sending={{ ...sending, fault }}
        isLoose={false}
        off={off}
        onAnyway={() => sending.send(preview, entries, true)}
      />
      {thread.data?.sourceId && (
        <Section title="Changes on both sides">
          <ThreeWay appId={appId} base={thread.data.sourceId} head={headSourceId} draft={sourceId} />
        </Section>
      )}
      <Section title={`What would change (${changes.length})`}>
        <ChangeList changes={changes} />
      </Section>
    </>
  );
}
