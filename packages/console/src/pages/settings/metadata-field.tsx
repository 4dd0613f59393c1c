import { X } from 'lucide-react';
import { Button, IconButton } from '../../ui/button.tsx';
import { Field } from '../../ui/fields.tsx';
import { MOST_PAIRS, wrongNames } from './metadata.ts';
import type { Pair } from './metadata.ts';

/** The one name whose value is a script. */
const SCRIPT = 'headrace.repairScript';

/** Names and values that are the owner's own. */
export function MetadataField({
  pairs,
  onChange,
  fault,
}: {
  pairs: readonly Pair[];
  onChange: (pairs: Pair[]) => void;
  fault: string | null;
}) {
  const wrong = wrongNames(pairs);
  const change = (at: number, part: Partial<Pair>) => onChange(pairs.with(at, { ...pairs[at]!, ...part }));
  return (
    <div role="group" aria-label="Metadata" className="flex flex-col gap-2">
      <div>
        <p className="label">Metadata</p>
        <p className="text-12 text-ink-3">Names and values of your own. The service only keeps them.</p>
      </div>
      {pairs.length > 0 && (
        <ol className="flex flex-col">
          {pairs.map(({ name, value }, at) => (
            <li
              // They are known by their place while they are typed.
              key={at}
              className="grid grid-cols-[1fr_auto] items-start gap-x-2 gap-y-1 border-t border-line py-2 sm:grid-cols-[1fr_1.5fr_auto]"
            >
              <Field
                label="Name"
                mono
                maxLength={64}
                value={name}
                onChange={(next) => change(at, { name: next })}
                fault={wrong[at]}
              />
              <div className="max-sm:col-span-2 max-sm:row-start-2">
                <Field
                  label="Value"
                  maxLength={name === SCRIPT ? 20_000 : 500}
                  {...((name === SCRIPT || value.includes('\n')) && { lines: 4, mono: true })}
                  value={value}
                  onChange={(next) => change(at, { value: next })}
                />
              </div>
              <div className="pt-4.5">
                <IconButton
                  label={`Remove ${name || `line ${at + 1}`}`}
                  onPress={() => onChange(pairs.toSpliced(at, 1))}
                >
                  <X size={14} />
                </IconButton>
              </div>
            </li>
          ))}
        </ol>
      )}
      {fault && (
        <p role="alert" className="long text-12 text-fail">
          {fault}
        </p>
      )}
      <div>
        <Button
          offBecause={pairs.length >= MOST_PAIRS ? `At most ${MOST_PAIRS} names.` : null}
          onPress={() => onChange([...pairs, { name: '', value: '' }])}
        >
          Add a name
        </Button>
      </div>
    </div>
  );
}
