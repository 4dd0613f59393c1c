import type { ReactNode } from 'react';
import type { Fault } from '../api/faults.ts';
import { useOffReason } from '../api/write.ts';
import { AsCode } from './as-code.tsx';
import type { AsCodeProps } from './as-code.tsx';
import { Button } from './button.tsx';
import { FaultLine } from './fault-line.tsx';

/** Within a dialog: says in `children` what follows, asks, and stays until it is done. `verb`: "Delete the webhook". */
export function Ask({
  write,
  verb,
  isDanger = true,
  code,
  onClose,
  children,
}: {
  write: { send: (input: null) => void; isSending: boolean; fault: Fault | null };
  verb: string;
  isDanger?: boolean;
  code: AsCodeProps;
  onClose: () => void;
  children: ReactNode;
}) {
  const off = useOffReason();
  return (
    <>
      <div className="long text-ink-2">{children}</div>
      <FaultLine fault={write.fault} />
      <div className="flex items-center justify-end gap-2">
        <AsCode {...code} />
        <Button isDisabled={write.isSending} onPress={onClose}>
          Cancel
        </Button>
        <Button
          kind={isDanger ? 'danger' : 'primary'}
          isPending={write.isSending}
          offBecause={off}
          onPress={() => write.send(null)}
        >
          {verb}
        </Button>
      </div>
    </>
  );
}
