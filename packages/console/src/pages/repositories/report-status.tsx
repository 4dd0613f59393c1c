import type { ScmCreateStatusInput } from '@headrace/client';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { client } from '../../api/client.ts';
import { fieldFault } from '../../api/faults.ts';
import { repositoryKey } from '../../api/repositories-queries.ts';
import { useOffReason, useWrite } from '../../api/write.ts';
import { AsCode, quoted } from '../../ui/as-code.tsx';
import { Button } from '../../ui/button.tsx';
import { Choices } from '../../ui/choices.tsx';
import { FaultLine } from '../../ui/fault-line.tsx';
import { Field } from '../../ui/fields.tsx';
import { notify } from '../../ui/notices.tsx';
import { worded } from './words.ts';

const STATES = ['success', 'failure', 'pending', 'error'].map((id) => ({ id, text: id }));
const SHOWN = ['/context', '/description', '/targetUrl', '/log'];

/** Reports as CI does: the newest report of each check counts. */
export function ReportStatus({
  repositoryId,
  commitSha,
  suggested,
  onClose,
}: {
  repositoryId: string;
  commitSha: string;
  suggested: string;
  onClose: () => void;
}) {
  const [typed, setTyped] = useState({ context: suggested, description: '', targetUrl: '', log: '' });
  const [state, setState] = useState<ScmCreateStatusInput['state']>('success');
  const queries = useQueryClient();
  const off = useOffReason();
  const set = (change: Partial<typeof typed>) => setTyped({ ...typed, ...change });
  const context = typed.context.trim();
  const body: ScmCreateStatusInput = {
    context,
    state,
    ...(typed.description.trim() && { description: typed.description.trim() }),
    ...(typed.targetUrl.trim() && { targetUrl: typed.targetUrl.trim() }),
    ...(typed.log && { log: typed.log }),
  };
  const write = useWrite({
    intent: `report on ${commitSha} of ${repositoryId}`,
    call: (input: ScmCreateStatusInput, options) =>
      worded(client.scm.createStatus(repositoryId, commitSha, input, options)),
    onDone: () => {
      void queries.invalidateQueries({ queryKey: repositoryKey(repositoryId) });
      notify('The check is reported.');
      onClose();
    },
  });
  const offBecause = off ?? (context === '' ? 'Name the check first.' : null);
  const field = (path: string) => fieldFault(write.fault, path);
  return (
    <form
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        if (!offBecause && !write.isSending) write.send(body);
      }}
    >
      <Field
        label="Check"
        hint="Its name, as in the required checks."
        mono
        autoFocus
        value={typed.context}
        onChange={(next) => set({ context: next })}
        fault={field('/context')}
        maxLength={100}
      />
      <Choices
        label="Result"
        choices={STATES}
        value={state}
        onChange={(id) => setState(id as ScmCreateStatusInput['state'])}
      />
      <Field
        label="Description"
        hint="Optional: one line about it."
        value={typed.description}
        onChange={(description) => set({ description })}
        fault={field('/description')}
        maxLength={1000}
      />
      <Field
        label="Address of its details"
        hint="Optional, https://…"
        mono
        value={typed.targetUrl}
        onChange={(targetUrl) => set({ targetUrl })}
        fault={field('/targetUrl')}
        maxLength={2048}
      />
      <Field
        label="Log"
        hint="Optional: agents that mend a failure read its end. It is not shown again."
        mono
        lines={3}
        value={typed.log}
        onChange={(log) => set({ log })}
        fault={field('/log')}
        maxLength={65_536}
      />
      <FaultLine fault={write.fault} at={SHOWN} />
      <div className="flex items-center justify-end gap-2">
        <AsCode
          method="POST"
          path={`/api/source-control/scm/repositories/${repositoryId}/commits/${commitSha}/statuses`}
          body={body}
          ts={`await client.scm.createStatus('${repositoryId}', '${commitSha}', ${JSON.stringify(body)});`}
          cli={`headrace statuses create ${repositoryId} ${commitSha} ${quoted(context)} ${state}${body.description ? ` --description ${quoted(body.description)}` : ''}${body.targetUrl ? ` --target-url ${quoted(body.targetUrl)}` : ''}${body.log ? ' --log-file ci.log' : ''}`}
        />
        <Button onPress={onClose}>Cancel</Button>
        <Button type="submit" kind="primary" isPending={write.isSending} offBecause={offBecause}>
          Report it
        </Button>
      </div>
    </form>
  );
}
