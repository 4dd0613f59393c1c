import { Choices } from '../../ui/choices.tsx';
import { mayChange, ROLES } from './roles.ts';
import type { Role } from './roles.ts';

/** Those roles that the user may give. */
export function RoleChoice({
  own,
  value,
  onChange,
}: {
  own: Role | null;
  value: Role;
  onChange: (role: Role) => void;
}) {
  return (
    <Choices
      label="Role"
      hint={ROLES.find(({ id }) => id === value)?.may}
      choices={ROLES.filter(({ id }) => mayChange(own, id))}
      value={value}
      onChange={(role) => onChange(role as Role)}
    />
  );
}
