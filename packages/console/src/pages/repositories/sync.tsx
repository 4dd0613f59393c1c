/** Has the host's repositories read again, and says when that is done. */
import type { Installation } from '@headrace/client';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { client } from '../../api/client.ts';
import { installationQuery, REPOSITORIES } from '../../api/repositories-queries.ts';
import { useMay } from '../../api/session.ts';
import { useOffReason, useWrite } from '../../api/write.ts';
import { AsCode } from '../../ui/as-code.tsx';
import { Button } from '../../ui/button.tsx';
import { FaultLine } from '../../ui/fault-line.tsx';
import { notify } from '../../ui/notices.tsx';
import { worded } from './words.ts';

/** A host that does not answer ends the wait. */
const WAIT_MS = 60_000;

/** Later, not only another: what is shown may be older than the answer. */
const isDone = (before: Installation, now: Installation): boolean =>
  (now.syncedAt ?? '') > (before.syncedAt ?? '') ||
  (now.status === 'error' && now.updatedAt > before.updatedAt);

export function Sync({ installation }: { installation: Installation }) {
  const { id } = installation;
  const queries = useQueryClient();
  const off = useOffReason();
  const may = useMay('repo:update');
  const [awaited, setAwaited] = useState<Installation | null>(null);
  const { data: now = installation } = useQuery({
    ...installationQuery(id, (read) => awaited !== null && !isDone(awaited, read)),
    enabled: awaited !== null,
  });
  const write = useWrite({
    intent: `sync ${id}`,
    call: (_: null, options) => worded(client.scm.syncInstallation(id, options)),
    onDone: setAwaited,
  });
  const isOver = awaited !== null && isDone(awaited, now);
  useEffect(() => {
    if (!isOver) return;
    setAwaited(null);
    void queries.invalidateQueries({ queryKey: REPOSITORIES });
    if (now.status === 'connected') notify('The repositories are read.');
    else notify('The repositories could not be read: the installation is in error.', 'fail');
  }, [isOver, now.status, queries]);
  useEffect(() => {
    if (!awaited) return undefined;
    const timer = setTimeout(() => {
      setAwaited(null);
      notify('The host takes long: the repositories are read when it answers.', 'fail');
    }, WAIT_MS);
    return () => clearTimeout(timer);
  }, [awaited]);
  if (!may) return null;
  return (
    <>
      <FaultLine fault={write.fault} />
      <AsCode
        method="POST"
        path={`/api/source-control/scm/installations/${id}/sync`}
        ts={`await client.scm.syncInstallation('${id}');`}
        cli={`headrace installations sync ${id}`}
      />
      <Button
        isPending={write.isSending || awaited !== null}
        offBecause={off}
        onPress={() => write.send(null)}
      >
        {awaited ? 'Reading the repositories' : 'Read the repositories again'}
      </Button>
    </>
  );
}
