/** People's own machines, on which threads may work. */
import type { Host } from '@headrace/client';
import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { client } from '../../api/client.ts';
import { hostsQuery } from '../../api/hosts-queries.ts';
import { itemsOf } from '../../api/query.ts';
import { useWrite } from '../../api/write.ts';
import { Plain } from '../../code/plain.tsx';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { useKeys } from '../../ui/keys.ts';
import { Page } from '../../ui/page.tsx';
import { ShowMore } from '../../ui/show-more.tsx';
import { Empty, Shown } from '../../ui/states.tsx';
import { Status } from '../../ui/status.tsx';
import { Time } from '../../ui/values.tsx';
import { NameForm } from './name-form.tsx';
import { TokenShown } from './token-shown.tsx';
import { sharedWith, statusOf } from './words.ts';

export function HostsPage() {
  const hosts = useInfiniteQuery(hostsQuery());
  const [isCreating, setCreating] = useState(false);
  const create = () => setCreating(true);
  useKeys([{ keys: 'n', does: 'New host', run: create }]);
  const items = itemsOf(hosts.data);
  return (
    <Page
      title="Hosts"
      actions={
        <Button kind="primary" onPress={create}>
          New host
        </Button>
      }
    >
      <p className="max-w-[72ch] px-4 pb-3 text-ink-2">
        A host is a person’s own machine. Threads work there in folders that it offers, with its agents and
        its person’s rights, and without a sandbox.
      </p>
      <Shown query={hosts}>
        {() =>
          items.length === 0 ? (
            <Empty title="No hosts yet">
              <p>
                With one, agents change files on a machine of yours: in a folder itself, or in a git worktree
                of it. It dials out, so nothing has to reach it.
              </p>
              <Button onPress={create}>Add the first host</Button>
            </Empty>
          ) : (
            <ul aria-label="Hosts" className="border-t border-line">
              {items.map((host) => (
                <Row key={host.id} host={host} />
              ))}
            </ul>
          )
        }
      </Shown>
      <ShowMore list={hosts} />
      <CreateHost isOpen={isCreating} onClose={() => setCreating(false)} />
    </Page>
  );
}

function Row({ host }: { host: Host }) {
  const { id: hostId, name, providers, lastSeenAt } = host;
  return (
    <li>
      <Link
        data-row
        to="/organization/hosts/$hostId"
        params={{ hostId }}
        className="row flex-wrap gap-y-0 py-1.5"
      >
        <span className="w-22 shrink-0">
          <Status {...statusOf(host)} />
        </span>
        <span className="min-w-0 flex-[1_1_220px]">
          <span className="long block font-bold">
            <Plain text={name} />
          </span>
          <span className="long block text-12 text-ink-3">
            {[sharedWith(host), ...providers].join(' · ')}
          </span>
        </span>
        <span className="text-12 text-ink-3 max-sm:pl-25 sm:w-36 sm:text-right">
          {lastSeenAt === null ? (
            'never connected'
          ) : (
            <>
              seen <Time at={lastSeenAt} />
            </>
          )}
        </span>
      </Link>
    </li>
  );
}

/** Shows the token once, then the host. */
function CreateHost({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const [made, setMade] = useState<{ id: string; token: string | null } | null>(null);
  const queries = useQueryClient();
  const navigate = useNavigate();
  const write = useWrite({
    intent: 'create a host',
    // The answer has a token.
    isSecret: true,
    call: (body: { name: string }, options) => client.hosts.create(body, options),
    onDone: ({ host, token }) => {
      setMade({ id: host.id, token: token ?? null });
      void queries.invalidateQueries({ queryKey: hostsQuery().queryKey });
    },
  });
  const end = () => {
    if (made) void navigate({ to: '/organization/hosts/$hostId', params: { hostId: made.id } });
    setMade(null);
    onClose();
  };
  return (
    <Dialog
      title={made ? 'The host’s token' : 'New host'}
      wide={made !== null}
      isOpen={isOpen}
      // An answer that comes after it was closed would have nobody to show its token to.
      isHeld={made !== null || write.isSending}
      onClose={end}
    >
      {made ? (
        <TokenShown token={made.token} onClose={end} />
      ) : (
        <NameForm
          was=""
          verb="Add the host"
          write={write}
          onClose={end}
          code={(name) => ({
            method: 'POST',
            path: '/api/hosts',
            body: { name },
            isSession: true,
            ts: `const { host, token } = await client.hosts.create({ name: ${JSON.stringify(name)} });`,
            cli: `headrace hosts create ${JSON.stringify(name)} > host.token`,
          })}
        />
      )}
    </Dialog>
  );
}
