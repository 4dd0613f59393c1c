import type { ReactNode } from 'react';
import { Button } from './button.tsx';
import { Field } from './fields.tsx';
import { CopyButton } from './values.tsx';

/**
 * What the service tells only once, at the end of a dialog, which neither Escape nor a click beside it may close then.
 * It lives in the caller's state alone, and goes with it.
 */
export function ShownOnce({
  label,
  secret,
  onClose,
  children,
}: {
  label: string;
  /** Null: the answer that had it was lost. */
  secret: string | null;
  onClose: () => void;
  /** What to do with it, or without it. */
  children: ReactNode;
}) {
  return (
    <>
      {secret !== null && (
        <div className="flex items-end gap-1">
          <Field
            label={label}
            mono
            value={secret}
            isReadOnly
            autoFocus
            autoComplete="off"
            onFocus={({ target }) => target.select()}
          />
          <CopyButton text={secret} label={`Copy: ${label}`} />
        </div>
      )}
      <div className="flex flex-col gap-2 text-ink-2">{children}</div>
      <div className="flex justify-end">
        <Button kind="primary" onPress={onClose}>
          {secret === null ? 'Close' : 'I have saved it'}
        </Button>
      </div>
    </>
  );
}
