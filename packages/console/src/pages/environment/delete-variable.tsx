import type { Variable } from '@headrace/client';
import { DeleteOfLevel } from '../../ui/delete-of-level.tsx';
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
  return (
    <DeleteOfLevel level={level} what="variable" name={name} onClose={onClose}>
      Sandboxes that start from now on do not have it; those that run keep it.{' '}
      {secret && 'Nothing brings the value back. '}
      {bared && 'The organization’s variable of this name then holds.'}
    </DeleteOfLevel>
  );
}
