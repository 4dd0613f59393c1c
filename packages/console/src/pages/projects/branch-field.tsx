import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { faultOf } from '../../api/faults.ts';
import { branchesQuery } from '../../api/repositories-queries.ts';
import { Combo } from '../../ui/combo.tsx';
import { useLater } from '../../ui/use-later.ts';

/** A branch of a repository: those that the provider has now are offered, any may be typed. */
export function BranchField({
  repositoryId,
  label,
  hint,
  without,
  placeholder,
  value,
  onChange,
  fault,
  isReadOnly = false,
}: {
  repositoryId: string;
  label: string;
  hint?: string;
  /** Not offered. */
  without?: string;
  placeholder?: string | undefined;
  value: string;
  onChange: (branch: string) => void;
  fault: string | null;
  isReadOnly?: boolean;
}) {
  const beginning = useLater(value.trim());
  // The provider is asked once somebody is here: a form may be opened for something else.
  const [isEntered, setEntered] = useState(false);
  const branches = useInfiniteQuery({
    ...branchesQuery(repositoryId, beginning.slice(0, 200)),
    enabled: isEntered && !isReadOnly,
    placeholderData: (last) => last,
  });
  const items = (branches.data?.pages.flatMap((page) => page.items) ?? []).filter(
    ({ name }) => name !== without,
  );
  return (
    <div onFocus={() => setEntered(true)}>
      <Combo
        label={label}
        mono
        {...(placeholder && { placeholder })}
        hint={branches.error ? `The branches cannot be read now: ${faultOf(branches.error).message}` : hint}
        choices={items.map(({ name, isDefault, commitSha }) => ({
          id: name,
          text: name,
          note: isDefault ? 'default' : commitSha.slice(0, 7),
        }))}
        typed={value}
        onType={onChange}
        fault={fault}
        isReadOnly={isReadOnly}
      />
    </div>
  );
}
