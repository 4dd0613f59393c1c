import type { Installation } from '@headrace/client';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { client } from '../../api/client.ts';
import { INSTALLATIONS, REPOSITORIES } from '../../api/repositories-queries.ts';
import { useWrite } from '../../api/write.ts';
import { Plain } from '../../code/plain.tsx';
import { Ask } from '../../ui/ask.tsx';
import { notify } from '../../ui/notices.tsx';
import { worded } from './words.ts';

export function DeleteInstallation({
  installation: { id, name },
  onClose,
}: {
  installation: Installation;
  onClose: () => void;
}) {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const write = useWrite({
    intent: `delete ${id}`,
    call: (_: null, options) => worded(client.scm.deleteInstallation(id, options)),
    onDone: () => {
      notify('The installation is deleted.');
      onClose();
      void queries.invalidateQueries({ queryKey: INSTALLATIONS, exact: true });
      void queries.invalidateQueries({ queryKey: REPOSITORIES });
      void navigate({ to: '/organization/repositories' });
    },
  });
  return (
    <Ask
      verb="Delete the installation"
      write={write}
      code={{
        method: 'DELETE',
        path: `/api/source-control/scm/installations/${id}`,
        isSession: true,
        ts: `await client.scm.deleteInstallation('${id}');`,
        cli: `headrace installations delete ${id}`,
      }}
      onClose={onClose}
    >
      The credential and the webhook secret of <Plain text={name} /> are removed at once. Projects stay bound
      to their repositories, but what needs GitHub is refused until another installation sees them, and their
      review loops are switched off. Nothing is deleted at GitHub: remove the token or the App there yourself.
    </Ask>
  );
}
