/** What may be done with a host, by its person and by those who administer the organization. */
import type { Host } from '@headrace/client';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { client } from '../../api/client.ts';
import { hostQuery, hostsQuery } from '../../api/hosts-queries.ts';
import { useIsAdmin, useSession } from '../../api/session.ts';
import { useWrite } from '../../api/write.ts';
import { Plain } from '../../code/plain.tsx';
import { Ask } from '../../ui/ask.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Menu } from '../../ui/menu.tsx';
import { notify } from '../../ui/notices.tsx';
import { NameForm } from './name-form.tsx';
import { TokenShown } from './token-shown.tsx';

interface Part {
  host: Host;
  onClose: () => void;
}

const pathOf = ({ id }: Host) => `/api/hosts/${id}`;

export function HostActions({ host }: { host: Host }) {
  const { user } = useSession();
  const isAdmin = useIsAdmin();
  const [over, setOver] = useState<'rename' | 'token' | 'delete' | null>(null);
  const close = () => setOver(null);
  if (!isAdmin && host.userId !== user.id) return null;
  return (
    <>
      <Menu
        label="More"
        items={[
          { id: 'rename', text: 'Rename', onAction: () => setOver('rename') },
          { id: 'token', text: 'New token', onAction: () => setOver('token') },
          { id: 'delete', text: 'Delete', isDanger: true, onAction: () => setOver('delete') },
        ]}
      />
      <Dialog title="Rename the host" isOpen={over === 'rename'} onClose={close}>
        <Rename host={host} onClose={close} />
      </Dialog>
      {over === 'token' && <NewToken host={host} onClose={close} />}
      <Dialog title="Delete the host" isOpen={over === 'delete'} onClose={close}>
        <Delete host={host} onClose={close} />
      </Dialog>
    </>
  );
}

function Rename({ host, onClose }: Part) {
  const queries = useQueryClient();
  const write = useWrite({
    intent: `rename host ${host.id}`,
    call: (body: { name: string }, options) => client.hosts.update(host.id, body, options),
    onDone: () => {
      onClose();
      void queries.invalidateQueries({ queryKey: hostQuery(host.id).queryKey });
      void queries.invalidateQueries({ queryKey: hostsQuery().queryKey });
    },
  });
  return (
    <NameForm
      was={host.name}
      verb="Rename the host"
      write={write}
      onClose={onClose}
      code={(name) => ({
        method: 'PATCH',
        path: pathOf(host),
        body: { name },
        isSession: true,
        ts: `await client.hosts.update('${host.id}', { name: ${JSON.stringify(name)} });`,
        cli: `headrace hosts rename ${host.id} ${JSON.stringify(name)}`,
      })}
    />
  );
}

/** Makes a new token, and shows it once. */
function NewToken({ host, onClose }: Part) {
  const [made, setMade] = useState<{ token: string | null } | null>(null);
  const write = useWrite({
    intent: `new token of host ${host.id}`,
    isSecret: true,
    call: (_: null, options) => client.hosts.rotateToken(host.id, options),
    onDone: ({ token }) => setMade({ token: token ?? null }),
  });
  return (
    <Dialog
      title={made ? 'The new token' : 'New token'}
      wide={made !== null}
      isOpen
      // An answer that comes after the dialog was closed would take the token with it.
      isHeld={made !== null || write.isSending}
      onClose={onClose}
    >
      {made ? (
        <TokenShown token={made.token} onClose={onClose} />
      ) : (
        <Ask
          verb="Make a new token"
          write={write}
          onClose={onClose}
          code={{
            method: 'POST',
            path: `${pathOf(host)}/token`,
            body: {},
            isSession: true,
            ts: `const { token } = await client.hosts.rotateToken('${host.id}');`,
            cli: `headrace hosts rotate-token ${host.id} > host.token`,
          }}
        >
          The former token and its connection end at once. Runs go on when the machine connects with the new
          one in time.
        </Ask>
      )}
    </Dialog>
  );
}

function Delete({ host, onClose }: Part) {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const write = useWrite({
    intent: `delete host ${host.id}`,
    call: (_: null, options) => client.hosts.delete(host.id, options),
    onDone: async () => {
      onClose();
      notify('The host is deleted.');
      await navigate({ to: '/organization/hosts' });
      queries.removeQueries({ queryKey: hostQuery(host.id).queryKey });
      void queries.invalidateQueries({ queryKey: hostsQuery().queryKey });
    },
  });
  return (
    <Ask
      verb="Delete the host"
      write={write}
      onClose={onClose}
      code={{
        method: 'DELETE',
        path: pathOf(host),
        isSession: true,
        ts: `await client.hosts.delete('${host.id}');`,
        cli: `headrace hosts delete ${host.id}`,
      }}
    >
      The connection of{' '}
      <b className="text-ink">
        <Plain text={host.name} />
      </b>{' '}
      and its runs end. Its threads can be read, and take no messages any more. The files on the machine stay.
    </Ask>
  );
}
