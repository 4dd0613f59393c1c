/** What the dialogs for a build and for a preview share: the thread, the command, the fault and the buttons. */
import type { ReactNode } from 'react';
import { fieldFault } from '../../api/faults.ts';
import type { Fault } from '../../api/faults.ts';
import { useOffReason } from '../../api/write.ts';
import { Button } from '../../ui/button.tsx';
import { FaultLine } from '../../ui/fault-line.tsx';
import { Field } from '../../ui/fields.tsx';
import { ThreadSelect } from './threads-of.tsx';

interface WorkFormProps {
  /** Null where the page says which thread it is. */
  thread: { appId: string; value: string | null; onChange: (threadId: string) => void } | null;
  isThreadMissing: boolean;
  fault: Fault | null;
  /** The fields, by their JSON pointers, that say themselves what is wrong with them. */
  fields: readonly string[];
  /** The same call for programs. */
  asCode: ReactNode;
  /** What the button says. */
  action: string;
  isSending: boolean;
  onSubmit: () => void;
  onClose: () => void;
  /** The fields. */
  children: ReactNode;
}

export function WorkForm(props: WorkFormProps) {
  const { thread, isThreadMissing, fault, fields, asCode, action, isSending, onSubmit, onClose, children } =
    props;
  const off = useOffReason();
  return (
    <form
      className="flex flex-col gap-3"
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit();
      }}
    >
      {thread && <ThreadSelect {...thread} />}
      {isThreadMissing && <p className="text-12 text-fail">Choose a thread.</p>}
      {children}
      <FaultLine fault={fault} at={fields} />
      <div className="flex items-center justify-end gap-2">
        {asCode}
        <Button onPress={onClose}>Cancel</Button>
        <Button kind="primary" type="submit" isPending={isSending} offBecause={off}>
          {action}
        </Button>
      </div>
    </form>
  );
}

export function CommandField(props: {
  hint: string;
  value: string;
  onChange: (command: string) => void;
  fault: Fault | null;
  /** The form was sent as it is. */
  hasTried: boolean;
}) {
  const { hint, value, onChange, fault, hasTried } = props;
  return (
    <Field
      label="Command"
      hint={hint}
      lines={3}
      mono
      autoFocus
      maxLength={10_000}
      value={value}
      onChange={onChange}
      fault={fieldFault(fault, '/command') ?? (hasTried && !value.trim() ? 'Say what to run.' : null)}
    />
  );
}
