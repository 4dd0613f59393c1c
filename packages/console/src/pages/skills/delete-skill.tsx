import type { Skill } from '@headrace/client';
import { useQueryClient } from '@tanstack/react-query';
import { useOffReason, useWrite } from '../../api/write.ts';
import { AsCode } from '../../ui/as-code.tsx';
import { Button } from '../../ui/button.tsx';
import { FaultLine } from '../../ui/fault-line.tsx';
import { notify } from '../../ui/notices.tsx';
import type { Level } from './level.ts';

/** Asks before it deletes. `isBared`: the organization has a skill of this name, which then holds. */
export function DeleteSkill({
  level,
  skill: { name },
  isBared,
  onClose,
}: {
  level: Level;
  skill: Skill;
  isBared: boolean;
  onClose: () => void;
}) {
  const queries = useQueryClient();
  const off = useOffReason();
  const write = useWrite({
    intent: `delete skill ${name} of ${level.appId ?? 'the organization'}`,
    call: (_: null, options) => level.remove(name, options),
    onDone: () => {
      void queries.invalidateQueries({ queryKey: level.queryKey });
      notify(`${name} is deleted.`);
      onClose();
    },
  });
  return (
    <>
      <p className="text-ink-2">
        Runs that begin from now on do not have it; those under way keep it. Its files are deleted for good:
        the archive brings them back. {isBared && 'The organization’s skill of this name then holds.'}
      </p>
      <FaultLine fault={write.fault} />
      <div className="flex items-center justify-end gap-2">
        <AsCode
          method="DELETE"
          path={level.path(name)}
          ts={level.ts('delete', `'${name}'`)}
          cli={`headrace skills rm ${name} ${level.flags}`}
        />
        <Button onPress={onClose}>Cancel</Button>
        <Button kind="danger" isPending={write.isSending} offBecause={off} onPress={() => write.send(null)}>
          Delete the skill
        </Button>
      </div>
    </>
  );
}
