import type { CreateAppInput } from '@headrace/client';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Form } from 'react-aria-components/Form';
import { client } from '../../api/client.ts';
import { fieldFault } from '../../api/faults.ts';
import { useOffReason, useWrite } from '../../api/write.ts';
import { AsCode, quoted } from '../../ui/as-code.tsx';
import { Button } from '../../ui/button.tsx';
import { Field } from '../../ui/fields.tsx';
import { useKept } from '../../ui/kept.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { FaultLine } from '../../ui/fault-line.tsx';

const NOTHING = { name: '', externalId: '' };

/** Opens the new app. */
export function CreateApp({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const [typed, setTyped] = useKept('new app', NOTHING);
  const queries = useQueryClient();
  const navigate = useNavigate();
  const off = useOffReason();
  const body: CreateAppInput = {
    name: typed.name.trim(),
    ...(typed.externalId.trim() && { externalId: typed.externalId.trim() }),
  };
  const write = useWrite({
    intent: 'create app',
    call: (input: CreateAppInput, options) => client.apps.create(input, options),
    onDone: ({ id }) => {
      setTyped(NOTHING);
      onClose();
      void queries.invalidateQueries({ queryKey: ['apps'] });
      void navigate({ to: '/apps/$appId', params: { appId: id } });
    },
  });
  return (
    <Dialog title="Create an app" isOpen={isOpen} onClose={onClose}>
      <Form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          if (!off) write.send(body);
        }}
      >
        <Field
          label="Name"
          value={typed.name}
          onChange={(name) => setTyped({ ...typed, name })}
          fault={fieldFault(write.fault, '/name')}
          maxLength={200}
          isRequired
          autoFocus
        />
        <Field
          label="External id"
          hint="Optional: your own id of it. No two apps have the same."
          mono
          value={typed.externalId}
          onChange={(externalId) => setTyped({ ...typed, externalId })}
          fault={fieldFault(write.fault, '/externalId')}
          maxLength={128}
        />
        <FaultLine fault={write.fault} at={['/name', '/externalId']} />
        <div className="flex items-center justify-end gap-2">
          <AsCode
            method="POST"
            path="/api/platform/v1/apps"
            body={body}
            ts={`const app = await client.apps.create(${JSON.stringify(body)});`}
            cli={`headrace apps create ${quoted(body.name)}`}
          />
          <Button onPress={onClose}>Cancel</Button>
          <Button type="submit" kind="primary" isPending={write.isSending} offBecause={off}>
            Create
          </Button>
        </div>
      </Form>
    </Dialog>
  );
}
