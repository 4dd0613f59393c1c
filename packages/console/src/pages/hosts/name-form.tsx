import { useState } from 'react';
import { Form } from 'react-aria-components/Form';
import { fieldFault } from '../../api/faults.ts';
import type { Fault } from '../../api/faults.ts';
import { useOffReason } from '../../api/write.ts';
import { AsCode } from '../../ui/as-code.tsx';
import type { AsCodeProps } from '../../ui/as-code.tsx';
import { Button } from '../../ui/button.tsx';
import { FaultLine } from '../../ui/fault-line.tsx';
import { Field } from '../../ui/fields.tsx';

/** The name of a host, new or another one. */
export function NameForm({
  was,
  verb,
  write,
  code,
  onClose,
}: {
  was: string;
  verb: string;
  write: { send: (body: { name: string }) => void; isSending: boolean; fault: Fault | null };
  code: (name: string) => AsCodeProps;
  onClose: () => void;
}) {
  const [typed, setTyped] = useState(was);
  const name = typed.trim();
  const off = useOffReason();
  const offBecause = off ?? (name === '' ? 'Give it a name.' : name === was ? 'It has that name.' : null);
  return (
    <Form
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        if (!offBecause && !write.isSending) write.send({ name });
      }}
    >
      <Field
        label="Name"
        value={typed}
        onChange={setTyped}
        hint="Which machine it is: “Kim’s laptop”, “the build box”."
        fault={fieldFault(write.fault, '/name')}
        maxLength={100}
        autoComplete="off"
        autoFocus
      />
      <FaultLine fault={write.fault} at={['/name']} />
      <div className="flex items-center justify-end gap-2">
        <AsCode {...code(name)} />
        <Button isDisabled={write.isSending} onPress={onClose}>
          Cancel
        </Button>
        <Button type="submit" kind="primary" isPending={write.isSending} offBecause={offBecause}>
          {verb}
        </Button>
      </div>
    </Form>
  );
}
