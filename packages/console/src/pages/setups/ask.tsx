/** Asks for a setup: of the head ahead of its use, or of a source once more. */
import type { CreateSetupInput } from '@headrace/client';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { client } from '../../api/client.ts';
import { setupQuery } from '../../api/queries.ts';
import { useWrite } from '../../api/write.ts';
import { AsCode } from '../../ui/as-code.tsx';

/** Opens the setup that is answered. */
export function useAsk(appId: string) {
  const navigate = useNavigate();
  const queries = useQueryClient();
  return useWrite({
    intent: `setup in ${appId}`,
    call: (body: CreateSetupInput, options) => client.setups.create(appId, body, options),
    onDone: (setup) => {
      queries.setQueryData(setupQuery(appId, setup.id).queryKey, setup);
      void navigate({ to: '/apps/$appId/setups/$setupId', params: { appId, setupId: setup.id } });
    },
  });
}

export const AskAsCode = ({ appId, body }: { appId: string; body: CreateSetupInput }) => (
  <AsCode
    method="POST"
    path={`/api/platform/v1/apps/${appId}/setups`}
    body={body}
    ts={`const setup = await client.setups.create('${appId}', ${JSON.stringify(body)}).done();`}
    cli={[
      `headrace setup run --app ${appId}`,
      ...(body.sourceId ? [`--source ${body.sourceId}`] : []),
      ...(body.force ? ['--force'] : []),
    ].join(' ')}
  />
);
