import type { UpdateOrganizationSettingsInput } from '@headrace/client';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Form } from 'react-aria-components/Form';
import { client } from '../../api/client.ts';
import { fieldFault } from '../../api/faults.ts';
import { organizationSettingsQuery } from '../../api/queries.ts';
import { useOffReason, useWrite } from '../../api/write.ts';
import { AsCode, quoted } from '../../ui/as-code.tsx';
import { Button } from '../../ui/button.tsx';
import { FaultLine } from '../../ui/fault-line.tsx';
import { Field, Select } from '../../ui/fields.tsx';
import { notify } from '../../ui/notices.tsx';
import { useIsMounted } from '../../ui/use-is-mounted.ts';

const NONE = '';
const OTHER = ' other';

/** Which model threads have where nothing else names one. */
export function DefaultModel({
  now,
  known,
  onClose,
}: {
  now: string | null;
  known: readonly string[];
  onClose: () => void;
}) {
  const [chosen, setChosen] = useState(now === null ? NONE : known.includes(now) ? now : OTHER);
  const [typed, setTyped] = useState(now ?? '');
  const queries = useQueryClient();
  const off = useOffReason();
  const isHere = useIsMounted();
  const modelId = chosen === OTHER ? typed.trim() : chosen;
  const body: UpdateOrganizationSettingsInput = { modelId: modelId === NONE ? null : modelId };
  const write = useWrite({
    intent: 'default model of the organization',
    call: (input: UpdateOrganizationSettingsInput, options) =>
      client.settings.updateOrganization(input, options),
    onDone: (settings) => {
      queries.setQueryData(organizationSettingsQuery().queryKey, settings);
      notify('Saved. It holds from the next run on.');
      // Another dialog may be open by now.
      if (isHere.current) onClose();
    },
  });
  const offBecause =
    off ??
    (chosen === OTHER && typed.trim() === '' ? 'Name the model.' : null) ??
    (body.modelId === now ? 'It is the default already.' : null);
  return (
    <Form
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        if (!offBecause && !write.isSending) write.send(body);
      }}
    >
      <Select
        label="Model"
        choices={[
          { id: NONE, text: 'None: scripted' },
          ...known.filter((id) => id !== 'scripted').map((id) => ({ id, text: id })),
          { id: OTHER, text: 'Another one' },
        ]}
        value={chosen}
        onChange={setChosen}
      />
      {chosen === OTHER && (
        <Field
          label="Its name"
          mono
          placeholder="anthropic/claude-sonnet-4-5"
          hint="The provider, a slash, and what the provider calls it."
          value={typed}
          onChange={setTyped}
          fault={fieldFault(write.fault, '/modelId')}
        />
      )}
      <FaultLine fault={write.fault} at={chosen === OTHER ? ['/modelId'] : []} />
      <div className="flex items-center justify-end gap-2">
        <AsCode
          method="PATCH"
          path="/api/settings"
          body={body}
          isSession
          ts={`await client.settings.updateOrganization(${JSON.stringify(body)});`}
          cli={`headrace settings set --organization ${modelId === NONE ? 'modelId:=null' : `modelId=${quoted(modelId)}`}`}
        />
        <Button onPress={onClose}>Cancel</Button>
        <Button type="submit" kind="primary" isPending={write.isSending} offBecause={offBecause}>
          Save
        </Button>
      </div>
    </Form>
  );
}
