import { useQueryClient } from '@tanstack/react-query';
import type { WriteOptions } from '@headrace/client';
import type { ReactNode } from 'react';
import { useOffReason, useWrite } from '../api/write.ts';
import { AsCode } from './as-code.tsx';
import { Button } from './button.tsx';
import { FaultLine } from './fault-line.tsx';
import { notify } from './notices.tsx';

/** Whose variables or skills: an app's, or the organization's. */
interface Level {
  /** null: the organization's. */
  appId: string | null;
  /** Of the reads that show what was written. */
  queryKey: readonly unknown[];
  /** From `/api`. */
  path: (name: string) => string;
  remove: (name: string, options: WriteOptions) => PromiseLike<unknown>;
  /** The client's call. */
  ts: (method: 'delete', args: string) => string;
  /** The command line's options for it. */
  flags: string;
}

/** Says in `children` what follows, and asks before it deletes. */
export function DeleteOfLevel({
  level,
  what,
  name,
  onClose,
  children,
}: {
  level: Level;
  what: 'variable' | 'skill';
  name: string;
  onClose: () => void;
  children: ReactNode;
}) {
  const queries = useQueryClient();
  const off = useOffReason();
  const write = useWrite({
    intent: `delete ${what} ${name} of ${level.appId ?? 'the organization'}`,
    call: (_: null, options) => level.remove(name, options),
    onDone: () => {
      void queries.invalidateQueries({ queryKey: level.queryKey });
      notify(`${name} is deleted.`);
      onClose();
    },
  });
  return (
    <>
      <p className="long text-ink-2">{children}</p>
      <FaultLine fault={write.fault} />
      <div className="flex items-center justify-end gap-2">
        <AsCode
          method="DELETE"
          path={level.path(name)}
          isSession={level.appId === null}
          ts={level.ts('delete', `'${name}'`)}
          cli={`headrace ${what === 'variable' ? 'env' : 'skills'} rm ${name} ${level.flags}`}
        />
        <Button onPress={onClose}>Cancel</Button>
        <Button kind="danger" isPending={write.isSending} offBecause={off} onPress={() => write.send(null)}>
          Delete the {what}
        </Button>
      </div>
    </>
  );
}
