import { isCode } from '@headrace/client';
import type { Repository } from '@headrace/client';
import { useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { client } from '../../api/client.ts';
import { REPOSITORIES } from '../../api/repositories-queries.ts';
import { useWrite } from '../../api/write.ts';
import { Plain } from '../../code/plain.tsx';
import { Ask } from '../../ui/ask.tsx';
import { notify } from '../../ui/notices.tsx';
import { worded } from './words.ts';

export function DeleteRepository({
  repository: { id, name },
  onClose,
}: {
  repository: Repository;
  onClose: () => void;
}) {
  const [isInUse, setInUse] = useState(false);
  const queries = useQueryClient();
  const navigate = useNavigate();
  const write = useWrite({
    intent: `delete ${id}`,
    call: async (_: null, options) => {
      try {
        return await worded(client.scm.deleteRepository(id, options));
      } catch (error) {
        setInUse(isCode(error, 'repository_in_use'));
        throw error;
      }
    },
    onDone: () => {
      notify(`${name} is deleted.`);
      onClose();
      void queries.invalidateQueries({ queryKey: REPOSITORIES });
      void navigate({ to: '/organization/repositories' });
    },
  });
  return (
    <Ask
      verb="Delete it for good"
      write={write}
      code={{
        method: 'DELETE',
        path: `/api/source-control/scm/repositories/${id}`,
        ts: `await client.scm.deleteRepository('${id}');`,
        cli: `headrace repos delete ${id}`,
      }}
      onClose={onClose}
    >
      <Plain text={name} /> is deleted for good, with its commits, its pull requests and what CI reported.
      Clones that others have stay as they are. Its name can be used again.
      {isInUse && (
        <p className="pt-2">
          <Link to="/projects" search={{ repositoryId: id }} className="link">
            The projects that are bound to it
          </Link>
        </p>
      )}
    </Ask>
  );
}
