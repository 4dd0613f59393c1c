/** Starts a thread with its first message. */
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import type { KeyboardEvent } from 'react';
import { client } from '../../api/client.ts';
import { modelsQuery } from '../../api/queries.ts';
import { useOffReason, useWrite } from '../../api/write.ts';
import { useKeptName } from '../../ui/kept.ts';
import { AsCode, quoted } from '../../ui/as-code.tsx';
import { Button } from '../../ui/button.tsx';
import { FaultLine } from '../../ui/fault-line.tsx';
import { Field, Select } from '../../ui/fields.tsx';
import { keyLabel } from '../../ui/keys.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { notify } from '../../ui/notices.tsx';
import { useIsMounted } from '../../ui/use-is-mounted.ts';
import { titleFor, useDraftOfThread } from './draft.ts';
import type { NewThreadDraft } from './draft.ts';

export function NewThread(props: { appId: string; isOpen: boolean; onClose: () => void }) {
  return (
    <Dialog title="New thread" isOpen={props.isOpen} onClose={props.onClose}>
      <Form appId={props.appId} onClose={props.onClose} />
    </Dialog>
  );
}

/** The app's model comes first and is not named in the call. */
const OWN = 'own';

const bodyOf = (draft: NewThreadDraft) => {
  const title = titleFor(draft);
  return {
    ...(title && { title }),
    ...(draft.modelId !== null && { modelId: draft.modelId }),
    message: { content: draft.content },
  };
};

function Form({ appId, onClose }: { appId: string; onClose: () => void }) {
  const { draft, change, clear } = useDraftOfThread(useKeptName(`new-thread ${appId}`));
  const navigate = useNavigate();
  const offBecause = useOffReason();
  const models = useModels();
  const isHere = useIsMounted();
  const { send, isSending, fault } = useWrite({
    intent: `thread ${appId}`,
    call: (input: NewThreadDraft, options) => client.threads.create(appId, bodyOf(input), options),
    onDone: ({ thread }, sent) => {
      clear(sent);
      // The dialog may have been closed meanwhile, and another one be open.
      if (!isHere.current) return notify('The thread was started.');
      onClose();
      void navigate({ to: '/apps/$appId/threads/$threadId', params: { appId, threadId: thread.id } });
    },
  });
  const why = offBecause ?? (draft.content.trim() ? null : 'Write what is to be done first.');
  const start = () => {
    if (!why && !isSending) send(draft);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || !(event.metaKey || event.ctrlKey)) return;
    event.preventDefault();
    start();
  };
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
        hint="What the agent is to do. The thread starts from the head."
        lines={8}
        autoFocus
        isReadOnly={isSending}
        value={draft.content}
        onChange={(content) => change({ content })}
        fault={faultAt(fault, '/message')}
      />
      <Field
        label="Title"
        placeholder={titleFor({ ...draft, title: '' }) || 'The first line of the message'}
        value={draft.title}
        maxLength={500}
        isReadOnly={isSending}
        onChange={(title) => change({ title })}
        fault={faultAt(fault, '/title')}
      />
      {models.length > 1 && (
        <Select
          label="Model"
          choices={[{ id: OWN, text: 'As the app is set' }, ...models]}
          value={draft.modelId ?? OWN}
          onChange={(id) => change({ modelId: id === OWN ? null : id })}
        />
      )}
      <FaultLine fault={fault} at={['/message', '/title']} />
      <div className="flex flex-wrap items-center justify-end gap-2">
        <span className="mr-auto text-12 text-ink-3">{keyLabel('mod+Enter')} starts it</span>
        <AsCode
          method="POST"
          path={`/api/platform/v1/apps/${appId}/threads`}
          body={bodyOf(draft)}
          ts={`const { thread } = await client.threads.create('${appId}', ${JSON.stringify(bodyOf(draft), null, 2)});`}
          cli={`headrace thread new ${quoted(draft.content)} --app ${appId}${draft.modelId ? ` --model ${draft.modelId}` : ''}`}
        />
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

/** Those that can be named; `provider/*` stands for any. */
function useModels() {
  const { data } = useQuery(modelsQuery());
  return (data?.items ?? [])
    .filter(({ id }) => !id.endsWith('/*'))
    .map(({ id, provider }) => ({ id, text: id, note: provider }));
}

function faultAt(fault: ReturnType<typeof useWrite>['fault'], path: string): string | null {
  return fault?.fields.find((field) => field.path.startsWith(path))?.message ?? null;
}
