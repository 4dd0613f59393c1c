import { X } from 'lucide-react';
import { useEffect, useRef } from 'react';
import type { ReactNode } from 'react';
import { Button, IconButton } from '../../ui/button.tsx';
import { Field } from '../../ui/fields.tsx';

export interface SecretRow {
  /** Tells rows apart while they change. */
  at: number;
  name: string;
  value: string;
  /** It has a value already, which the one of this row replaces. */
  isSet?: true;
}

export const rowsOf = (names: readonly string[]): SecretRow[] =>
  names.map((name, at) => ({ at, name, value: '', isSet: true }));

/** As the service takes them. */
export const secretsOf = (rows: readonly SecretRow[]): Record<string, string> =>
  Object.fromEntries(rows.map(({ name, value }) => [name.trim(), value]));

/** Why the rows cannot be sent; null if they can. */
export function rowsFault(rows: readonly SecretRow[], isHttp: boolean): string | null {
  const names = rows.map(({ name }) => (isHttp ? name.trim().toLowerCase() : name.trim()));
  if (names.includes('')) return 'Each needs a name.';
  if (new Set(names).size < names.length) return 'Each name can be given once.';
  // A header without a value is refused; a variable may be empty, but one that is set is not emptied by the way.
  if (isHttp) return rows.some(({ value }) => value === '') ? 'Each header needs its value.' : null;
  const forgotten = rows.find(({ value, isSet }) => isSet && value === '');
  return forgotten ? `Give the value of ${forgotten.name.trim()} again, or remove it.` : null;
}

/** Names with values that are written and never read. */
export function SecretRows({
  what,
  rows,
  onChange,
  faultOf,
  children,
}: {
  what: 'header' | 'variable';
  rows: readonly SecretRow[];
  onChange: (rows: SecretRow[]) => void;
  /** Of the one with this name. */
  faultOf: (name: string) => string | null;
  /** Beside the button for one more. */
  children: ReactNode;
}) {
  const set = (at: number, change: Partial<SecretRow>) =>
    onChange(rows.map((row) => (row.at === at ? { ...row, ...change } : row)));
  const label = what === 'header' ? 'Header' : 'Variable';
  const box = useRef<HTMLDivElement>(null);
  const removed = useRef<number | null>(null);
  // To the button that stands in the place of the one that has gone: of the next row, or for one more.
  useEffect(() => {
    if (removed.current !== null) box.current?.querySelectorAll('button')[removed.current]?.focus();
    removed.current = null;
  }, [rows]);
  const next = Math.max(-1, ...rows.map(({ at }) => at)) + 1;
  return (
    <div ref={box} className="flex w-full flex-col items-start gap-2">
      {rows.map(({ at, name, value }, i) => (
        <div key={at} className="flex w-full items-end gap-2">
          <div className="w-2/5">
            <Field
              label={`${label} ${i + 1}`}
              mono
              placeholder={what === 'header' ? 'Authorization' : 'TOKEN'}
              value={name}
              onChange={(next) => set(at, { name: next })}
              fault={faultOf(name.trim())}
              autoComplete="off"
              spellCheck="false"
            />
          </div>
          <div className="min-w-0 grow">
            <Field
              label={`Value ${i + 1}`}
              mono
              type="password"
              value={value}
              onChange={(next) => set(at, { value: next })}
              autoComplete="new-password"
              spellCheck="false"
            />
          </div>
          <IconButton
            label={`Remove ${name || `${what} ${i + 1}`}`}
            onPress={() => {
              removed.current = i;
              onChange(rows.filter((row) => row.at !== at));
            }}
          >
            <X size={14} />
          </IconButton>
        </div>
      ))}
      <div className="flex flex-wrap gap-2">
        <Button onPress={() => onChange([...rows, { at: next, name: '', value: '' }])}>Add a {what}</Button>
        {children}
      </div>
    </div>
  );
}
