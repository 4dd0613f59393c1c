import type { App, UpdateAppInput } from '@headrace/client';
import { useQueryClient } from '@tanstack/react-query';
import { useRef } from 'react';
import { Form } from 'react-aria-components/Form';
import { client } from '../../api/client.ts';
import { fieldFault } from '../../api/faults.ts';
import { appQuery } from '../../api/queries.ts';
import { useOffReason, useWrite } from '../../api/write.ts';
import { AsCode } from '../../ui/as-code.tsx';
import { Button } from '../../ui/button.tsx';
import { FaultLine } from '../../ui/fault-line.tsx';
import { Field } from '../../ui/fields.tsx';
import { useKept } from '../../ui/kept.ts';
import { notify } from '../../ui/notices.tsx';
import { Id } from '../../ui/values.tsx';

interface Typed {
  name?: string;
  externalId?: string;
}
const NOTHING: Typed = {};

/** The app's name and the customer's own id of it. */
export function Identity({ app, mayChange }: { app: App; mayChange: boolean }) {
  const [typed, setTyped] = useKept<Typed>(`identity ${app.id}`, NOTHING);
  const sent = useRef(typed);
  const queries = useQueryClient();
  const off = useOffReason();
  const name = typed.name ?? app.name;
  const externalId = typed.externalId ?? app.externalId ?? '';
  const change: UpdateAppInput = {
    ...(name.trim() !== app.name && { name: name.trim() }),
    ...(externalId.trim() !== (app.externalId ?? '') && { externalId: externalId.trim() || null }),
  };
  const isChanged = Object.keys(change).length > 0;
  const write = useWrite({
    intent: `update app ${app.id}`,
    call: (input: UpdateAppInput, options) => client.apps.update(app.id, input, options),
    onDone: (updated) => {
      // What was typed meanwhile stays.
      setTyped((now) => (now === sent.current ? NOTHING : now));
      queries.setQueryData(appQuery(app.id).queryKey, updated);
      notify('Saved.');
    },
  });
  return (
    <Form
      className="max-w-[560px] px-4 pt-1 pb-5"
      onSubmit={(event) => {
        event.preventDefault();
        if (off || !isChanged || write.isSending) return;
        sent.current = typed;
        write.send(change);
      }}
    >
      <fieldset disabled={!mayChange} className="flex flex-col gap-4">
        <Field
          label="Name"
          value={name}
          onChange={(value) => setTyped({ ...typed, name: value })}
          fault={fieldFault(write.fault, '/name')}
          maxLength={200}
          isRequired
        />
        <Field
          label="External id"
          hint="Your own id of this app. No two apps have the same."
          mono
          value={externalId}
          onChange={(value) => setTyped({ ...typed, externalId: value })}
          fault={fieldFault(write.fault, '/externalId')}
          maxLength={128}
        />
        <div>
          <p className="label">Id</p>
          <Id value={app.id} />
        </div>
        <FaultLine fault={write.fault} at={['/name', '/externalId']} />
        {isChanged && (
          <div className="flex items-center gap-2">
            <Button type="submit" kind="primary" isPending={write.isSending} offBecause={off}>
              Save the app
            </Button>
            <Button
              isDisabled={write.isSending}
              onPress={() => {
                setTyped(NOTHING);
                write.reset();
              }}
            >
              Discard
            </Button>
            <AsCode
              method="PATCH"
              path={`/api/platform/v1/apps/${app.id}`}
              body={change}
              ts={`await client.apps.update('${app.id}', ${JSON.stringify(change)});`}
              cli={`headrace apps update ${app.id}`}
            />
          </div>
        )}
      </fieldset>
    </Form>
  );
}
