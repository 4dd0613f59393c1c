/** An automation as a form, to create and to change one. */
import type { Automation, CreateAutomationInput, UpdateAutomationInput } from '@headrace/client';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { Form } from 'react-aria-components/Form';
import { client } from '../../api/client.ts';
import type { Fault } from '../../api/faults.ts';
import { useOffReason, useWrite } from '../../api/write.ts';
import { AsCode } from '../../ui/as-code.tsx';
import { Button } from '../../ui/button.tsx';
import { Choices } from '../../ui/choices.tsx';
import { FaultLine } from '../../ui/fault-line.tsx';
import { Field } from '../../ui/fields.tsx';
import { useKept } from '../../ui/kept.ts';
import { notify } from '../../ui/notices.tsx';
import { useIsMounted } from '../../ui/use-is-mounted.ts';
import { faultAt } from '../settings/draft.ts';
import { ProjectSelect } from '../tasks/project-select.tsx';
import { bodyOf, changesOf, draftOf, missingIn, NEW, wrongIn } from './draft.ts';
import type { Draft, Kind } from './draft.ts';
import type { PartProps } from './part.ts';
import { FilterPart } from './form-filter.tsx';
import { PromptPart } from './form-prompt.tsx';
import { EventPart, SchedulePart, WebhookPart } from './form-trigger.tsx';
import { LimitsPart, WorkPart } from './form-work.tsx';
import { createSample, SECRET_PLACEHOLDER, updateSample } from './samples.ts';

/** Fields that say themselves what is wrong with them. */
const FIELDS = [
  '/name',
  '/prompt',
  '/trigger/cron',
  '/trigger/timeZone',
  '/trigger/types',
  '/trigger/secret',
  '/trigger/defaults',
  '/filter',
  '/modelId',
  '/baseBranch',
  '/pullRequest',
  '/overlap',
  '/spendLimitMicros',
  '/monthlyLimitMicros',
  '/disableAfterFailures',
];

export interface Created {
  automation: Automation;
  /** Of a hook, made by the service and shown once; null if there is none. */
  secret: string | null;
  /** One was made, but its answer was lost. */
  isLost: boolean;
}

/** `projectId`: the one whose automations are shown. `onHeld`: closed now, it would lose a secret that is on its way. */
export function NewAutomation({
  projectId,
  onHeld,
  onCreated,
  onClose,
}: {
  projectId: string | null;
  onHeld: (isHeld: boolean) => void;
  onCreated: (created: Created) => void;
  onClose: () => void;
}) {
  const [typed, setTyped] = useKept('new automation', NEW);
  const [secret, setSecret] = useState<string | null>(null);
  const queries = useQueryClient();
  const isHere = useIsMounted();
  const draft = { ...typed, projectId: typed.projectId ?? projectId };
  const write = useWrite({
    intent: 'create automation',
    call: (input: CreateAutomationInput, options) => client.automations.create(input, options),
    onDone: ({ automation, secret: made }, { trigger }) => {
      setTyped(NEW);
      setSecret(null);
      void queries.invalidateQueries({ queryKey: ['automations'] });
      if (!isHere.current) return notify(`${automation.name} is created.`);
      onCreated({
        automation,
        secret: made ?? null,
        isLost: made === undefined && trigger.kind === 'webhook' && trigger.secret === undefined,
      });
    },
    // What is sent may have a secret, and so may the answer.
    isSecret: true,
  });
  const isHeld = write.isSending && draft.kind === 'webhook';
  useEffect(() => {
    onHeld(isHeld);
    return () => onHeld(false);
  }, [onHeld, isHeld]);
  const shownSecret = secret === null ? null : SECRET_PLACEHOLDER;
  return (
    <AutomationForm
      draft={draft}
      set={(part) => setTyped((now) => ({ ...now, ...part }))}
      secret={secret}
      onSecret={setSecret}
      isStored={false}
      fault={write.fault}
      isSending={write.isSending}
      isHeld={isHeld}
      missing={missingIn(draft)}
      action="Create"
      sample={createSample({ ...bodyOf(draft, shownSecret), projectId: draft.projectId ?? 'PROJECT' })}
      onSend={() => write.send(bodyOf(draft, secret))}
      onClose={onClose}
    />
  );
}

export function ChangeAutomation({ automation, onClose }: { automation: Automation; onClose: () => void }) {
  const isHere = useIsMounted();
  // As it was when the form was opened: what others change meanwhile is not taken back.
  const [stored] = useState(automation);
  const [initial] = useState(() => draftOf(automation));
  const [draft, setDraft] = useKept(`automation ${stored.id} ${stored.updatedAt}`, initial);
  const [secret, setSecret] = useState<string | null>(null);
  const queries = useQueryClient();
  const write = useWrite({
    intent: `change automation ${automation.id}`,
    call: (body: UpdateAutomationInput, options) => client.automations.update(automation.id, body, options),
    onDone: () => {
      setDraft(initial);
      void queries.invalidateQueries({ queryKey: ['automations'] });
      void queries.invalidateQueries({ queryKey: ['automation', automation.id] });
      notify('Saved. Executions that begin from now on use it.');
      if (isHere.current) onClose();
    },
    isSecret: true,
  });
  const changes = changesOf(stored, draft, secret);
  const nothing = Object.keys(changes).length === 0 ? 'Nothing is changed.' : null;
  return (
    <AutomationForm
      draft={draft}
      set={(part) => setDraft((now) => ({ ...now, ...part }))}
      secret={secret}
      onSecret={setSecret}
      isStored
      fault={write.fault}
      isSending={write.isSending}
      missing={missingIn(draft) ?? nothing}
      action="Save"
      sample={updateSample(
        automation.id,
        changesOf(stored, draft, secret === null ? null : SECRET_PLACEHOLDER),
      )}
      onSend={() => write.send(changes)}
      onClose={onClose}
    />
  );
}

interface FormProps {
  draft: Draft;
  set: (part: Partial<Draft>) => void;
  secret: string | null;
  onSecret: (secret: string | null) => void;
  /** It exists: its project and the kind of its trigger stay. */
  isStored: boolean;
  fault: Fault | null;
  isSending: boolean;
  isHeld?: boolean;
  missing: string | null;
  action: string;
  sample: Parameters<typeof AsCode>[0];
  onSend: () => void;
  onClose: () => void;
}

function AutomationForm(props: FormProps) {
  const { draft, set, secret, onSecret, isStored, fault, isSending, missing, action, onSend } = props;
  const off = useOffReason();
  const wrong = wrongIn(draft);
  const part: PartProps = {
    draft,
    set,
    wrong,
    faultAt: (pointer) => faultAt(fault?.fields ?? [], pointer),
  };
  const hindrance =
    off ??
    missing ??
    (Object.keys(wrong).length > 0 ? 'Some fields are wrong: see the marked ones.' : null) ??
    (secret !== null && draft.kind === 'webhook' && secret.length < 16
      ? 'The secret has at least 16 characters.'
      : null);
  return (
    <Form
      className="flex flex-col gap-4"
      autoComplete="off"
      onSubmit={(event) => {
        event.preventDefault();
        if (hindrance === null && !isSending) onSend();
      }}
    >
      {!isStored && <ProjectSelect value={draft.projectId} onChange={(projectId) => set({ projectId })} />}
      <Field
        label="Name"
        value={draft.name}
        onChange={(name) => set({ name })}
        maxLength={200}
        hint="Also the title of its threads."
        fault={part.faultAt('/name')}
        autoFocus
      />
      {!isStored && (
        <Choices
          label="It starts"
          choices={[
            { id: 'schedule', text: 'At times' },
            { id: 'event', text: 'On events' },
            { id: 'webhook', text: 'When another system calls' },
          ]}
          value={draft.kind}
          onChange={(kind) => set({ kind: kind as Kind })}
        />
      )}
      {draft.kind === 'schedule' && <SchedulePart {...part} />}
      {draft.kind === 'event' && <EventPart {...part} />}
      {draft.kind === 'webhook' && (
        <WebhookPart {...part} secret={secret} onSecret={onSecret} isStored={isStored} />
      )}
      {draft.kind !== 'schedule' && <FilterPart {...part} />}
      <PromptPart {...part} />
      <WorkPart {...part} />
      <LimitsPart {...part} />
      <FaultLine fault={fault} at={FIELDS} />
      <div className="flex items-center justify-end gap-2">
        <AsCode {...props.sample} />
        <Button onPress={props.onClose} isDisabled={props.isHeld ?? false}>
          Cancel
        </Button>
        <Button type="submit" kind="primary" isPending={isSending} offBecause={hindrance}>
          {action}
        </Button>
      </div>
    </Form>
  );
}
