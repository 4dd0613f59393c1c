/** Buttons that narrow a list to one status, kept in the address. */
import { Toggle } from '../../ui/button.tsx';

export function StatusFilter<S extends string>({
  label,
  statuses,
  value,
  onChange,
}: {
  label: string;
  statuses: readonly S[];
  value: S | undefined;
  onChange: (status: S | undefined) => void;
}) {
  return (
    <div role="group" aria-label={label} className="flex flex-wrap gap-2 border-b border-line px-4 pb-3">
      <Toggle isSelected={value === undefined} onChange={() => onChange(undefined)}>
        All
      </Toggle>
      {statuses.map((status) => (
        <Toggle
          key={status}
          isSelected={value === status}
          onChange={(isOn) => onChange(isOn ? status : undefined)}
        >
          {status[0]!.toUpperCase() + status.slice(1)}
        </Toggle>
      ))}
    </div>
  );
}
