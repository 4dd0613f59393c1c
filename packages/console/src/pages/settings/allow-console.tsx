import type { Settings } from '@headrace/client';
import { useQueryClient } from '@tanstack/react-query';
import { client } from '../../api/client.ts';
import { appSettingsQuery } from '../../api/queries.ts';
import { useMay } from '../../api/session.ts';
import { useOffReason, useWrite } from '../../api/write.ts';
import { AsCode } from '../../ui/as-code.tsx';
import { Button } from '../../ui/button.tsx';
import { FaultLine } from '../../ui/fault-line.tsx';
import { notify } from '../../ui/notices.tsx';

/** Lets this console show the app's previews in a frame, by one press; nothing where it may already. */
export function AllowConsole({ appId, settings }: { appId: string; settings: Settings }) {
  const queries = useQueryClient();
  const mayChange = useMay('project:update');
  const off = useOffReason();
  const allowed = settings.preview?.frameAncestors;
  const body = { preview: { frameAncestors: [...(allowed ?? []), location.origin] } };
  const write = useWrite({
    intent: `allow the console in ${appId}`,
    call: (input: typeof body, options) => client.settings.update(appId, input, options),
    onDone: (updated) => {
      queries.setQueryData(appSettingsQuery(appId).queryKey, updated);
      notify('This console may show the previews.');
    },
  });
  if (!allowed || allowed.includes(location.origin) || allowed.includes('*') || !mayChange) return null;
  return (
    <div className="flex flex-wrap items-center gap-2">
      <Button isPending={write.isSending} offBecause={off} onPress={() => write.send(body)}>
        Allow this console
      </Button>
      <AsCode
        method="PATCH"
        path={`/api/platform/v1/apps/${appId}/settings`}
        body={body}
        ts={`await client.settings.update('${appId}', ${JSON.stringify(body)});`}
      />
      <FaultLine fault={write.fault} />
    </div>
  );
}
