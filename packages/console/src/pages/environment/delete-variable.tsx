import type { Variable } from '@headrace/client';
import { useQueryClient } from '@tanstack/react-query';
import { useOffReason, useWrite } from '../../api/write.ts';
import { AsCode } from '../../ui/as-code.tsx';
import { Button } from '../../ui/button.tsx';
import { FaultLine } from '../../ui/fault-line.tsx';
import { notify } from '../../ui/notices.tsx';
import type { Level } from './level.ts';

/** Asks before it deletes. `bared`: the organization's variable of this name, which then holds. */
export function DeleteVariable({
  level,
  variable: { name, secret },
  bared,
  onClose,
}: {
  level: Level;
  variable: Variable;
  bared: Variable | undefined;
  onClose: () => void;
}) {
  const queries = useQueryClient();
  const off = useOffReason();
  const write = useWrite({
    intent: `delete variable ${name} of ${level.appId ?? 'the organization'}`,
    call: (_: null, options) => level.remove(name, options),
    onDone: () => {
      void queries.invalidateQueries({ queryKey: level.queryKey });
      notify(`${name} is deleted.`);
      onClose();
    },
  });
  return (
    <>
      <p className="long text-ink-2">
        Sandboxes that start from now on do not have it; those that run keep it.{' '}
        {secret && 'Nothing brings the value back. '}
        {bared && 'The organization’s variable of this name then holds.'}
      </p>
      <FaultLine fault={write.fault} />
      <div className="flex items-center justify-end gap-2">
        <AsCode
          method="DELETE"
          path={level.path(name)}
          ts={level.ts('delete', `'${name}'`)}
          cli={`headrace env rm ${name} ${level.flags}`}
        />
        <Button onPress={onClose}>Cancel</Button>
        <Button kind="danger" isPending={write.isSending} offBecause={off} onPress={() => write.send(null)}>
          Delete the variable
        </Button>
      </div>
    </>
  );
}
