import type { Installation, ScmUpdateInstallationInput } from '@headrace/client';
import { useQueryClient } from '@tanstack/react-query';
import { client } from '../../api/client.ts';
import { installationQuery, INSTALLATIONS } from '../../api/repositories-queries.ts';
import { useWrite } from '../../api/write.ts';
import { notify } from '../../ui/notices.tsx';
import { worded } from './words.ts';

/** Changes an installation. Nothing of what is sent is kept: it may be a secret. */
export function useChange({
  installationId,
  said,
  onDone,
}: {
  installationId: string;
  said: string;
  onDone: (changed: Installation) => void;
}) {
  const queries = useQueryClient();
  return useWrite({
    intent: `change ${installationId}`,
    isSecret: true,
    call: (input: ScmUpdateInstallationInput, options) =>
      worded(client.scm.updateInstallation(installationId, input, options)),
    onDone: (changed) => {
      queries.setQueryData(installationQuery(installationId).queryKey, changed);
      void queries.invalidateQueries({ queryKey: INSTALLATIONS });
      notify(said);
      onDone(changed);
    },
  });
}
