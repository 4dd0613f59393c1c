/** The model of the next run. */
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { modelsQuery } from '../../api/queries.ts';
import { Select } from '../../ui/fields.tsx';

const OWN = ' own';
const OTHER = ' other';

export function ModelChoice({
  value,
  ofThread,
  onChange,
}: {
  value: string | null;
  ofThread: string | null;
  onChange: (modelId: string | null) => void;
}) {
  const { data } = useQuery(modelsQuery());
  const [isOther, setOther] = useState(false);
  const models = (data?.items ?? []).map(({ id }) => id);
  const named = models.filter((id) => !id.endsWith('/*'));
  const isOpen = named.length < models.length;
  const isUnlisted = value !== null && !named.includes(value);
  const choices = [
    { id: OWN, text: ofThread ?? 'Default model' },
    ...named.filter((id) => id !== ofThread).map((id) => ({ id, text: id })),
    ...(isUnlisted && !isOther ? [{ id: value, text: value }] : []),
    ...(isOpen ? [{ id: OTHER, text: 'Another model' }] : []),
  ];
  const choose = (id: string) => {
    setOther(id === OTHER);
    if (id !== OTHER) onChange(id === OWN ? null : id);
  };
  return (
    <span className="flex items-center gap-1">
      <Select
        label="Model"
        quiet
        choices={choices}
        value={isOther ? OTHER : (value ?? OWN)}
        onChange={choose}
      />
      {isOther && (
        <input
          aria-label="Model, as provider/model"
          placeholder="provider/model"
          maxLength={128}
          value={value ?? ''}
          onChange={(event) => onChange(event.target.value || null)}
          className="input max-w-48 font-mono text-mono"
        />
      )}
    </span>
  );
}
