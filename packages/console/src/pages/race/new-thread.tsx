/** Starts a thread with its first message. */
import type { Project } from '@headrace/client';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import type { KeyboardEvent } from 'react';
import { client } from '../../api/client.ts';
import { modelsQuery } from '../../api/queries.ts';
import { useOffReason, useWrite } from '../../api/write.ts';
import { useKeptName } from '../../ui/kept.ts';
import { AsCode } from '../../ui/as-code.tsx';
import { Button } from '../../ui/button.tsx';
import { FaultLine } from '../../ui/fault-line.tsx';
import { Field, Select } from '../../ui/fields.tsx';
import { keyLabel } from '../../ui/keys.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { notify } from '../../ui/notices.tsx';
import { useIsMounted } from '../../ui/use-is-mounted.ts';
import { limitOf } from '../thread/spend.ts';
import { titleFor, useDraftOfThread } from './draft.ts';
import type { NewThreadDraft } from './draft.ts';
import { bodyOf as bodyFor, samplesOf } from './new-thread-body.ts';
import { OfTheThread, StartsFrom } from './new-thread-parts.tsx';

interface NewThreadProps {
  app: Project;
  /** What it is to work on. */
  task?: { id: string; identifier: string };
  onClose: () => void;
}

export function NewThread({ isOpen, ...props }: NewThreadProps & { isOpen: boolean }) {
  return (
    <Dialog title={newThreadTitle(props.task)} isOpen={isOpen} onClose={props.onClose}>
      <NewThreadForm {...props} />
    </Dialog>
  );
}

export const newThreadTitle = (task: NewThreadProps['task']): string =>
  task ? `New thread for ${task.identifier}` : 'New thread';

/** The app's model comes first and is not named in the call. */
const OWN = 'own';
const SHOWN = [
  '/message',
  '/title',
  '/baseBranch',
  '/spendLimitMicros',
  '/trackerIssueUrl',
  '/sourceId',
  '/taskId',
];

/** Within its dialog. */
export function NewThreadForm({ app, task, onClose }: NewThreadProps) {
  const appId = app.id;
  const { draft, change, clear } = useDraftOfThread(useKeptName(`new-thread ${task?.id ?? appId}`));
  const bodyOf = (typed: NewThreadDraft) => bodyFor(app, task ? { ...typed, taskId: task.id } : typed);
  const navigate = useNavigate();
  const queries = useQueryClient();
  const offBecause = useOffReason();
  const models = useModels();
  const isHere = useIsMounted();
  const { send, isSending, fault } = useWrite({
    intent: `thread ${task?.id ?? appId}`,
    call: (input: NewThreadDraft, options) => client.threads.createDirect(bodyOf(input), options),
    onDone: ({ thread }, sent) => {
      clear(sent);
      if (task) void queries.invalidateQueries({ queryKey: ['task', task.id] });
      // The dialog may have been closed meanwhile, and another one be open.
      if (!isHere.current) return notify('The thread was started.');
      onClose();
      void navigate({ to: '/apps/$appId/threads/$threadId', params: { appId, threadId: thread.id } });
    },
  });
  const why =
    offBecause ??
    (draft.content.trim() ? null : 'Write what is to be done first.') ??
    (limitOf(draft.spendLimit) === undefined ? 'The spend limit is no amount.' : null);
  const start = () => {
    if (!why && !isSending) send(draft);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || !(event.metaKey || event.ctrlKey)) return;
    event.preventDefault();
    start();
  };
  const at = (path: string) => fault?.fields.find((field) => field.path.startsWith(path))?.message ?? null;
  const parts = { app, draft, change, at, isReadOnly: isSending };
  return (
    <form
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        start();
      }}
      onKeyDown={onKeyDown}
    >
      <Field
        label="First message"
        hint={`What the agent is to do.${startOf(app)}`}
        lines={8}
        autoFocus
        isReadOnly={isSending}
        value={draft.content}
        onChange={(content) => change({ content })}
        fault={at('/message')}
      />
      <Field
        label="Title"
        placeholder={titleFor({ ...draft, title: '' }) || 'The first line of the message'}
        value={draft.title}
        maxLength={500}
        isReadOnly={isSending}
        onChange={(title) => change({ title })}
        fault={at('/title')}
      />
      {models.length > 1 && (
        <Select
          label="Model"
          choices={[
            { id: OWN, text: `As the ${app.kind === 'direct' ? 'project' : 'app'} is set` },
            ...models,
          ]}
          value={draft.modelId ?? OWN}
          onChange={(id) => change({ modelId: id === OWN ? null : id })}
        />
      )}
      {(app.repositoryId !== null || app.headSourceId !== null) && <StartsFrom {...parts} />}
      <OfTheThread {...parts} hasTask={task !== undefined} />
      <FaultLine fault={fault} at={SHOWN} />
      <div className="flex flex-wrap items-center justify-end gap-2">
        <span className="mr-auto text-12 text-ink-3">{keyLabel('mod+Enter')} starts it</span>
        <AsCode method="POST" {...samplesOf(app, bodyOf(draft))} />
        <Button onPress={onClose} isDisabled={isSending}>
          Cancel
        </Button>
        <Button kind="primary" type="submit" offBecause={why} isDisabled={isSending}>
          {isSending ? 'Starting…' : 'Start'}
        </Button>
      </div>
    </form>
  );
}

/** Where there is a choice, its field says it. */
const startOf = ({ repositoryId, headSourceId }: Project): string =>
  repositoryId !== null
    ? ''
    : headSourceId === null
      ? ' The thread starts without files.'
      : ' The thread starts from the head.';

/** Those that can be named; `provider/*` stands for any. */
function useModels() {
  const { data } = useQuery(modelsQuery());
  return (data?.items ?? [])
    .filter(({ id }) => !id.endsWith('/*'))
    .map(({ id, provider }) => ({ id, text: id, note: provider }));
}
