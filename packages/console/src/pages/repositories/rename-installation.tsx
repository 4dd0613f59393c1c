import type { Installation } from '@headrace/client';
import { useState } from 'react';
import { fieldFault } from '../../api/faults.ts';
import { useOffReason } from '../../api/write.ts';
import { AsCode, quoted } from '../../ui/as-code.tsx';
import { Button } from '../../ui/button.tsx';
import { FaultLine } from '../../ui/fault-line.tsx';
import { Field } from '../../ui/fields.tsx';
import { useChange } from './use-change.ts';

export function RenameInstallation({
  installation: { id, name },
  onClose,
}: {
  installation: Installation;
  onClose: () => void;
}) {
  const [typed, setTyped] = useState(name);
  const off = useOffReason();
  const body = { name: typed.trim() };
  const write = useChange({ installationId: id, said: 'Renamed.', onDone: onClose });
  const offBecause = off ?? (body.name === '' ? 'Give it a name first.' : null);
  return (
    <form
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        if (!offBecause && !write.isSending) write.send(body);
      }}
    >
      <Field
        label="Name"
        value={typed}
        onChange={setTyped}
        maxLength={100}
        autoFocus
        fault={fieldFault(write.fault, '/name')}
      />
      <FaultLine fault={write.fault} at={['/name']} />
      <div className="flex items-center justify-end gap-2">
        <AsCode
          method="PATCH"
          path={`/api/source-control/scm/installations/${id}`}
          body={body}
          isSession
          ts={`await client.scm.updateInstallation('${id}', ${JSON.stringify(body)});`}
          cli={`headrace installations update ${id} --name ${quoted(body.name)}`}
        />
        <Button onPress={onClose}>Cancel</Button>
        <Button type="submit" kind="primary" isPending={write.isSending} offBecause={offBecause}>
          Rename
        </Button>
      </div>
    </form>
  );
}
