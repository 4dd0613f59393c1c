/** What is asked on the page of an automation. */
import type { Automation, Execution, RunAutomationInput } from '@headrace/client';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { Form } from 'react-aria-components/Form';
import { client } from '../../api/client.ts';
import { useOffReason, useWrite } from '../../api/write.ts';
import { AsCode } from '../../ui/as-code.tsx';
import { Button } from '../../ui/button.tsx';
import { FaultLine } from '../../ui/fault-line.tsx';
import { Field } from '../../ui/fields.tsx';
import { useKept } from '../../ui/kept.ts';
import { notify } from '../../ui/notices.tsx';
import { useIsMounted } from '../../ui/use-is-mounted.ts';
import { faultAt } from '../settings/draft.ts';
import { HookHelp, HookSecret } from './hook-help.tsx';
import { payloadOf } from './payload.ts';
import { useChange, useReadAgain } from './use-change.ts';

interface DialogProps {
  automation: Automation;
  onClose: () => void;
}

export function Disable({ automation, onClose }: DialogProps) {
  const { id } = automation;
  const off = useOffReason();
  const isHere = useIsMounted();
  const change = useChange(automation, () => isHere.current && onClose());
  return (
    <>
      <p className="long text-ink-2">
        Executions that wait are cancelled; those that run go on. Until it is enabled again, only runs by hand
        start. Times that pass meanwhile are not made up.
      </p>
      <FaultLine fault={change.fault} />
      <div className="flex items-center justify-end gap-2">
        <AsCode
          method="PATCH"
          path={`/api/automations/${id}`}
          body={{ disabled: true }}
          ts={`await client.automations.update('${id}', { disabled: true });`}
          cli={`headrace automations disable ${id}`}
        />
        <Button onPress={onClose}>Cancel</Button>
        <Button
          kind="danger"
          isPending={change.isSending}
          offBecause={off}
          onPress={() => change.send({ disabled: true })}
        >
          Disable it
        </Button>
      </div>
    </>
  );
}

export function Delete({ automation: { id, name, projectId }, onClose }: DialogProps) {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const off = useOffReason();
  const isHere = useIsMounted();
  const write = useWrite({
    intent: `delete automation ${id}`,
    call: (_: null, options) => client.automations.delete(id, options),
    onDone: () => {
      notify(`${name} is deleted.`);
      void queries.invalidateQueries({ queryKey: ['automations'] });
      if (!isHere.current) return;
      onClose();
      void navigate({ to: '/automations', search: { projectId }, replace: true });
    },
  });
  return (
    <>
      <p className="long text-ink-2">
        Nothing brings it back. Executions that wait are cancelled. Its threads stay; the list of its
        executions goes.
      </p>
      <FaultLine fault={write.fault} />
      <div className="flex items-center justify-end gap-2">
        <AsCode
          method="DELETE"
          path={`/api/automations/${id}`}
          ts={`await client.automations.delete('${id}');`}
          cli={`headrace automations delete ${id}`}
        />
        <Button onPress={onClose}>Cancel</Button>
        <Button kind="danger" isPending={write.isSending} offBecause={off} onPress={() => write.send(null)}>
          Delete the automation
        </Button>
      </div>
    </>
  );
}

const DAY_SECONDS = 86_400;
/** As the service. */
const MOST_SECONDS = 7 * DAY_SECONDS;

/** Asks, then shows the new secret, which is gone with the dialog. */
export function RotateSecret({ automation, onClose }: DialogProps) {
  const { id } = automation;
  const [typed, setTyped] = useState(String(DAY_SECONDS));
  const [made, setMade] = useState<{ secret: string | null } | null>(null);
  const off = useOffReason();
  const readAgain = useReadAgain(id);
  const write = useWrite({
    intent: `rotate secret of ${id}`,
    call: (body: { overlapSeconds: number }, options) => client.automations.rotateSecret(id, body, options),
    onDone: ({ secret }) => {
      setMade({ secret: secret ?? null });
      void readAgain();
    },
    isSecret: true,
  });
  if (made)
    return (
      <>
        <HookSecret secret={made.secret}>
          Copy it now, and give it to the sender: nobody is shown it again.
        </HookSecret>
        <HookHelp automation={automation} />
        <div className="flex justify-end">
          <Button kind="primary" onPress={onClose}>
            {made.secret === null ? 'Close' : 'I have copied it'}
          </Button>
        </div>
      </>
    );
  const overlapSeconds = Number(typed);
  const wrong = /^\d+$/.test(typed.trim()) ? null : `A whole number from 0 to ${MOST_SECONDS}.`;
  return (
    <Form
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        if (!off && wrong === null && !write.isSending) write.send({ overlapSeconds });
      }}
    >
      <p className="long text-ink-2">
        The service makes a new secret, and shows it once. A sender that makes its own is given by Change
        instead.
      </p>
      <Field
        label="The present secret stays valid for, in seconds"
        inputMode="numeric"
        value={typed}
        onChange={setTyped}
        hint="86400 is a day. 0 if it has leaked."
        fault={wrong ?? faultAt(write.fault?.fields ?? [], '/overlapSeconds')}
        autoFocus
      />
      <FaultLine fault={write.fault} at={['/overlapSeconds']} />
      <div className="flex items-center justify-end gap-2">
        <AsCode
          method="POST"
          path={`/api/automations/${id}/secret`}
          body={{ overlapSeconds }}
          ts={`const { secret } = await client.automations.rotateSecret('${id}', { overlapSeconds: ${overlapSeconds} });`}
          cli={`headrace automations rotate-secret ${id} --overlap ${overlapSeconds}s > hook.secret`}
        />
        <Button onPress={onClose} isDisabled={write.isSending}>
          Cancel
        </Button>
        <Button type="submit" kind="primary" isPending={write.isSending} offBecause={off ?? wrong}>
          Replace the secret
        </Button>
      </div>
    </Form>
  );
}

/** Opens the execution. */
export function RunNow({
  automation: { id, name, disabled },
  onStarted,
  onClose,
}: DialogProps & { onStarted: (execution: Execution) => void }) {
  const [typed, setTyped] = useKept(`payload of ${id}`, '');
  const off = useOffReason();
  const isHere = useIsMounted();
  const readAgain = useReadAgain(id);
  const { payload, fault: wrong } = payloadOf(typed);
  const body: RunAutomationInput = payload === undefined ? {} : { payload };
  const write = useWrite({
    intent: `run automation ${id}`,
    call: (input: RunAutomationInput, options) => client.automations.run(id, input, options),
    onDone: (execution) => {
      setTyped('');
      void readAgain();
      if (isHere.current) onStarted(execution);
      else notify(`${name} was started.`);
    },
  });
  return (
    <Form
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        if (!off && wrong === null && !write.isSending) write.send(body);
      }}
    >
      {disabled && (
        <p className="long text-ink-2">It is disabled: it does not start by itself, but by hand it does.</p>
      )}
      <Field
        label="Payload"
        mono
        lines={8}
        placeholder={'{ "service": "shop" }'}
        value={typed}
        onChange={setTyped}
        hint="Optional: an object as JSON, at most 256 KiB. It takes the place of a hook’s body."
        fault={wrong ?? faultAt(write.fault?.fields ?? [], '/payload')}
        spellCheck="false"
        autoFocus
      />
      <FaultLine fault={write.fault} at={['/payload']} />
      <div className="flex items-center justify-end gap-2">
        <AsCode
          method="POST"
          path={`/api/automations/${id}/run`}
          body={body}
          ts={`const execution = await client.automations.run('${id}', ${JSON.stringify(body)});`}
          cli={`headrace automations run ${id}${payload === undefined ? '' : ' --payload payload.json'}`}
        />
        <Button onPress={onClose}>Cancel</Button>
        <Button type="submit" kind="primary" isPending={write.isSending} offBecause={off ?? wrong}>
          Run it
        </Button>
      </div>
    </Form>
  );
}
