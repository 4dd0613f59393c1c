import type { Preview } from '@headrace/client';
import { useQueryClient } from '@tanstack/react-query';
import { client } from '../../api/client.ts';
import { previewQuery } from '../../api/queries.ts';
import { useOffReason, useWrite } from '../../api/write.ts';
import { AsCode } from '../../ui/as-code.tsx';
import { Button } from '../../ui/button.tsx';
import { FaultLine } from '../../ui/fault-line.tsx';
import { notify } from '../../ui/notices.tsx';

export const isOpen = ({ status }: Preview): boolean => status === 'starting' || status === 'ready';

/** Stops a preview. It can be started again, so nothing is asked. */
export function StopButton({ preview }: { preview: Preview }) {
  const { id, projectId: appId } = preview;
  const off = useOffReason();
  const queries = useQueryClient();
  const stop = useWrite({
    intent: `stop ${id}`,
    call: (_: null, options) => client.previews.delete(appId, id, options),
    onDone: (now) => {
      queries.setQueryData(previewQuery(appId, id).queryKey, now);
      notify('The preview is stopped');
    },
  });
  return (
    <>
      <FaultLine fault={stop.fault} />
      <AsCode
        method="DELETE"
        path={`/api/platform/v1/apps/${appId}/previews/${id}`}
        ts={`client.previews.delete('${appId}', '${id}')`}
        cli={`headrace previews stop ${id} --app ${appId}`}
      />
      <Button isPending={stop.isSending} offBecause={off} onPress={() => stop.send(null)}>
        Stop
      </Button>
    </>
  );
}
