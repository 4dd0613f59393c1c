import { useState } from 'react';
import { Plain } from '../../../code/plain.tsx';
import { Button } from '../../../ui/button.tsx';
import { Checkbox } from '../../../ui/fields.tsx';
import { plural } from '../../../ui/values.tsx';
import type { PathFault } from './faults.ts';
import type { LeftOut } from './scan.ts';

const SHOWN = 50;
const REASONS: Record<LeftOut['reason'], string> = {
  ignored: 'an ignore file names it',
  dependencies: 'tools fill it again',
  reserved: 'no source may hold it',
};

/** What is not imported, and why; all but reserved names can be taken in. */
export function LeftOutList({
  items,
  isOff,
  onTake,
}: {
  items: readonly LeftOut[];
  isOff: boolean;
  onTake: (path: string, isTaken: boolean) => void;
}) {
  const [isAll, setAll] = useState(false);
  if (items.length === 0) return null;
  const shown = isAll ? items : items.slice(0, SHOWN);
  return (
    <div>
      <h3 className="label py-1">Left out unless you tick it</h3>
      <ul aria-label="Left out" className="max-h-80 overflow-y-auto border-t border-line">
        {shown.map(({ path, reason, isTaken }) => (
          <li key={path} className="flex min-h-7 items-center gap-2 border-b border-line py-0.5">
            <Checkbox
              isSelected={isTaken}
              isDisabled={isOff || reason === 'reserved'}
              onChange={(value) => onTake(path, value)}
            >
              <span className="long font-mono text-mono">
                <Plain text={path} />
              </span>
            </Checkbox>
            <span className="ml-auto shrink-0 text-12 text-ink-3">{REASONS[reason]}</span>
          </li>
        ))}
      </ul>
      {shown.length < items.length && (
        <Button kind="quiet" onPress={() => setAll(true)}>
          Show {plural(items.length - shown.length, 'more', 'more')}
        </Button>
      )}
    </div>
  );
}

/** What breaks a rule for sources, by path. */
export function PathFaults({ faults }: { faults: readonly PathFault[] }) {
  return (
    <ul aria-label="Faults by path" className="max-h-80 overflow-y-auto border-t border-line">
      {faults.map(({ path, message }, index) => (
        <li key={index} className="flex min-h-7 flex-wrap items-baseline gap-x-3 border-b border-line py-0.5">
          {path !== null && (
            <span className="long font-mono text-mono">
              <Plain text={path} />
            </span>
          )}
          <span className="long text-fail">{message}</span>
        </li>
      ))}
    </ul>
  );
}
