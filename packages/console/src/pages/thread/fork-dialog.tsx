/** Another thread that begins where this one is, or was. */
import type { ForkThreadInput } from '@headrace/client';
import { useNavigate } from '@tanstack/react-router';
import { client } from '../../api/client.ts';
import { fieldFault } from '../../api/faults.ts';
import { useOffReason, useWrite } from '../../api/write.ts';
import { quoted, AsCode } from '../../ui/as-code.tsx';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { FaultLine } from '../../ui/fault-line.tsx';
import { Checkbox, Field } from '../../ui/fields.tsx';
import { useKept } from '../../ui/kept.ts';
import { notify } from '../../ui/notices.tsx';
import { useIsMounted } from '../../ui/use-is-mounted.ts';
import { dollars } from '../../ui/values.tsx';
import { callOf, pathOf, useThread } from './context.ts';
import { ModelChoice } from './model-choice.tsx';
import { limitOf } from './spend.ts';

interface Draft {
  content: string;
  title: string;
  hasTranscript: boolean;
  modelId: string | null;
  limit: string;
}

const EMPTY: Draft = { content: '', title: '', hasTranscript: true, modelId: null, limit: '' };
const SHOWN = ['/message/content', '/title', '/spendLimitMicros'];

interface ForkProps {
  /** Null: the thread as it is. */
  checkpointId: string | null;
  onClose: () => void;
}

export function ForkDialog(props: ForkProps) {
  return (
    <Dialog
      title={props.checkpointId === null ? 'Fork the thread' : 'Fork from this checkpoint'}
      isOpen
      onClose={props.onClose}
    >
      <Form {...props} />
    </Dialog>
  );
}

function Form({ checkpointId, onClose }: ForkProps) {
  const place = useThread();
  const { appId, threadId, thread } = place;
  const [draft, setDraft] = useKept(`fork ${checkpointId ?? threadId}`, EMPTY);
  const change = (part: Partial<Draft>) => setDraft({ ...draft, ...part });
  const navigate = useNavigate();
  const off = useOffReason();
  const isHere = useIsMounted();
  const limit = limitOf(draft.limit);
  const body = bodyOf(draft, checkpointId);
  const { send, isSending, fault } = useWrite({
    intent: `fork ${threadId}`,
    call: (input: ForkThreadInput, options) => client.threads.fork(appId, threadId, input, options),
    onDone: ({ thread: fork }) => {
      setDraft(EMPTY);
      // The dialog may have been closed meanwhile.
      if (!isHere.current) return notify('The fork is made.');
      onClose();
      void navigate({ to: '/apps/$appId/threads/$threadId', params: { appId, threadId: fork.id } });
    },
  });
  const offBecause =
    off ??
    (limit === undefined ? 'The limit is no amount.' : null) ??
    (checkpointId === null && thread.latestSourceId === null ? 'The thread has no files yet.' : null);
  return (
    <form
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        if (!offBecause && !isSending) send(body);
      }}
    >
      <p className="text-ink-2">
        A new thread with {checkpointId === null ? 'the latest files' : 'the files of the checkpoint'}. This
        one does not change.
      </p>
      <Field
        label="First message"
        hint="Empty: no run begins yet."
        lines={4}
        autoFocus
        isReadOnly={isSending}
        value={draft.content}
        onChange={(content) => change({ content })}
        fault={fieldFault(fault, '/message/content')}
      />
      <Field
        label="Title"
        placeholder={thread.title ?? ''}
        maxLength={500}
        isReadOnly={isSending}
        value={draft.title}
        onChange={(title) => change({ title })}
        fault={fieldFault(fault, '/title')}
      />
      <Checkbox
        isSelected={draft.hasTranscript}
        isDisabled={isSending}
        onChange={(hasTranscript) => change({ hasTranscript })}
      >
        The agent knows what was said {checkpointId === null ? 'so far' : 'up to there'}
      </Checkbox>
      <div className="flex flex-col items-start gap-1">
        <span className="label">Model</span>
        <ModelChoice
          value={draft.modelId}
          ofThread={thread.modelId}
          onChange={(modelId) => change({ modelId })}
        />
      </div>
      <Field
        label="Spend limit in US dollars"
        hint={
          thread.spendLimitMicros === null
            ? 'Empty: no limit of its own.'
            : `Empty: what is left of this thread’s ${dollars(thread.spendLimitMicros)}.`
        }
        inputMode="decimal"
        isReadOnly={isSending}
        value={draft.limit}
        onChange={(text) => change({ limit: text })}
        fault={limit === undefined ? 'This is no amount: write 2.50' : fieldFault(fault, '/spendLimitMicros')}
      />
      <FaultLine fault={fault} at={SHOWN} />
      <div className="flex items-center justify-end gap-2">
        <AsCode
          method="POST"
          path={pathOf(place, '/fork')}
          body={body}
          ts={`const { thread } = await ${callOf('threads.fork', place, body)};`}
          cli={cliOf(threadId, body)}
        />
        <Button onPress={onClose}>Cancel</Button>
        <Button kind="primary" type="submit" isPending={isSending} offBecause={offBecause}>
          Fork
        </Button>
      </div>
    </form>
  );
}

/** What is left out is taken from the thread. */
function bodyOf(draft: Draft, checkpointId: string | null): ForkThreadInput {
  const title = draft.title.trim();
  const limit = limitOf(draft.limit) ?? null;
  return {
    ...(checkpointId !== null && { checkpointId }),
    ...(!draft.hasTranscript && { transcript: false }),
    ...(title && { title }),
    ...(draft.modelId !== null && { modelId: draft.modelId }),
    ...(limit !== null && { spendLimitMicros: limit }),
    ...(draft.content.trim() && { message: { content: draft.content } }),
  };
}

const cliOf = (threadId: string, body: ForkThreadInput): string =>
  [
    `headrace fork ${threadId}`,
    ...(body.checkpointId ? [`--checkpoint ${body.checkpointId}`] : []),
    ...(body.transcript === false ? ['--no-transcript'] : []),
    ...(body.title ? [`--title ${quoted(body.title)}`] : []),
    ...(body.modelId ? [`--model ${body.modelId}`] : []),
    ...(body.spendLimitMicros === undefined ? [] : [`--spend-limit ${body.spendLimitMicros / 1e6}`]),
    ...(body.message ? [`--message ${quoted(body.message.content)}`] : []),
  ].join(' ');
