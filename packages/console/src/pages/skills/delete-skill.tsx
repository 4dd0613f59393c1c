import type { Skill } from '@headrace/client';
import { DeleteOfLevel } from '../../ui/delete-of-level.tsx';
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
  return (
    <DeleteOfLevel level={level} what="skill" name={name} onClose={onClose}>
      Runs that begin from now on do not have it; those under way keep it. Its files are deleted for good: the
      archive brings them back. {isBared && 'The organization’s skill of this name then holds.'}
    </DeleteOfLevel>
  );
}
