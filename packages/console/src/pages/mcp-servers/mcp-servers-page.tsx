/** Servers whose tools the organization's agents may use. */
import type { McpServer, Project } from '@headrace/client';
import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import { client } from '../../api/client.ts';
import { mcpServerQuery, mcpServersQuery, projectChoicesQuery } from '../../api/hooks-queries.ts';
import { itemsOf } from '../../api/query.ts';
import { useMay } from '../../api/session.ts';
import { useWrite } from '../../api/write.ts';
import { Plain } from '../../code/plain.tsx';
import { Ask } from '../../ui/ask.tsx';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { useKeys } from '../../ui/keys.ts';
import { notify } from '../../ui/notices.tsx';
import { Page } from '../../ui/page.tsx';
import { ShowMore } from '../../ui/show-more.tsx';
import { Empty, Shown } from '../../ui/states.tsx';
import { Time } from '../../ui/values.tsx';
import { useIsMounted } from '../../ui/use-is-mounted.ts';
import { namesOf } from './draft.ts';
import { ServerForm } from './server-form.tsx';

const route = getRouteApi('/signed-in/organization/mcp-servers');

export function McpServersPage() {
  const { server: opened } = route.useSearch();
  const navigate = route.useNavigate();
  const servers = useInfiniteQuery(mcpServersQuery());
  const mayCreate = useMay('mcpServer:create');
  const [isCreating, setCreating] = useState(false);
  const [deleted, setDeleted] = useState<McpServer | null>(null);
  const create = () => setCreating(true);
  useKeys(mayCreate ? [{ keys: 'n', does: 'New server', run: create }] : []);
  const items = itemsOf(servers.data);
  const isNamed = items.some(({ projectIds }) => projectIds !== null);
  const projects = useInfiniteQuery({ ...projectChoicesQuery(), enabled: isNamed });
  return (
    <Page
      title="MCP servers"
      actions={
        mayCreate && (
          <Button kind="primary" onPress={create}>
            New server
          </Button>
        )
      }
    >
      <p className="max-w-[72ch] px-4 pb-3 text-ink-2">
        Tools for agents: a ticket system, a database, a search. Runs that start afterwards can use a server,
        at most 20 each. Nothing calls one before an agent does, so what fails is shown among the tools of a
        run.
      </p>
      <Shown query={servers}>
        {() =>
          items.length === 0 ? (
            <Empty title="No MCP servers yet">
              <p>
                Register a server of the Model Context Protocol by its URL, or by a command that starts it in
                the sandbox. Its credentials are stored encrypted and never shown again.
              </p>
              {mayCreate && <Button onPress={create}>Add the first server</Button>}
            </Empty>
          ) : (
            <ul aria-label="MCP servers" className="border-t border-line">
              {items.map((server) => (
                <Row
                  key={server.id}
                  server={server}
                  projects={itemsOf(projects.data)}
                  onDelete={() => setDeleted(server)}
                />
              ))}
            </ul>
          )
        }
      </Shown>
      <ShowMore list={servers} />
      <Dialog title="New MCP server" isOpen={isCreating} onClose={() => setCreating(false)}>
        <ServerForm server={null} onClose={() => setCreating(false)} />
      </Dialog>
      <Dialog
        title="Change the MCP server"
        isOpen={opened !== undefined}
        onClose={() => void navigate({ search: {}, resetScroll: false })}
      >
        {opened !== undefined && (
          <Change
            key={opened}
            serverId={opened}
            onClose={() => void navigate({ search: {}, resetScroll: false })}
          />
        )}
      </Dialog>
      <Dialog title="Delete the MCP server" isOpen={deleted !== null} onClose={() => setDeleted(null)}>
        {deleted && <Delete server={deleted} onClose={() => setDeleted(null)} />}
      </Dialog>
    </Page>
  );
}

function Row({
  server,
  projects,
  onDelete,
}: {
  server: McpServer;
  projects: readonly Project[];
  onDelete: () => void;
}) {
  const { id, name, transport, url, command, projectIds, updatedAt } = server;
  const mayChange = useMay('mcpServer:update');
  const mayDelete = useMay('mcpServer:delete');
  const names = namesOf(server);
  return (
    <li className="row flex-wrap gap-y-0 py-1.5 md:flex-nowrap">
      <div className="min-w-0 flex-1 basis-60">
        <p className="long font-bold">
          <Plain text={name} />
        </p>
        <p className="long line-clamp-2 font-mono text-mono text-ink-2" title={url ?? command ?? undefined}>
          <Plain text={url ?? command ?? ''} />
        </p>
        <p className="long text-12 text-ink-3">
          {transport === 'http' ? 'over HTTP' : transport === 'stdio' ? 'in the sandbox' : transport}
          {names.length > 0 && (
            <>
              {' · '}
              <span className="font-mono">{names.join(', ')}</span> set, never shown
            </>
          )}
        </p>
      </div>
      <p className="long text-12 text-ink-2 max-md:basis-full md:w-48">
        {projectIds === null
          ? 'all apps and projects'
          : projectIds.map((appId, i) => (
              <span key={appId}>
                {i > 0 && ', '}
                <Link to="/apps/$appId" params={{ appId }} className="link">
                  <Plain text={projects.find((project) => project.id === appId)?.name ?? appId} />
                </Link>
              </span>
            ))}
      </p>
      <span className="text-12 text-ink-3 max-md:hidden md:w-24">
        <Time at={updatedAt} />
      </span>
      <span className="-ml-2.5 flex md:-mr-2.5 md:ml-0 md:w-36 md:justify-end">
        {mayChange && (
          <ButtonLink
            kind="quiet"
            data-row
            to="/organization/mcp-servers"
            search={{ server: id }}
            resetScroll={false}
            aria-label={`Change ${name}`}
          >
            Change
          </ButtonLink>
        )}
        {mayDelete && (
          <Button kind="quiet" aria-label={`Delete ${name}`} onPress={onDelete}>
            Delete
          </Button>
        )}
      </span>
    </li>
  );
}

/** As it is now: another may have changed it. */
function Change({ serverId, onClose }: { serverId: string; onClose: () => void }) {
  const server = useQuery(mcpServerQuery(serverId));
  return <Shown query={server}>{(shown) => <ServerForm server={shown} onClose={onClose} />}</Shown>;
}

function Delete({ server: { id, name }, onClose }: { server: McpServer; onClose: () => void }) {
  const queries = useQueryClient();
  const isHere = useIsMounted();
  const write = useWrite({
    intent: `delete MCP server ${id}`,
    call: (_: null, options) => client.mcpServers.delete(id, options),
    onDone: () => {
      void queries.invalidateQueries({ queryKey: mcpServersQuery().queryKey });
      notify(`${name} is deleted.`);
      if (isHere.current) onClose();
    },
  });
  return (
    <Ask
      verb="Delete the server"
      write={write}
      onClose={onClose}
      code={{
        method: 'DELETE',
        path: `/api/mcp-servers/${id}`,
        ts: `await client.mcpServers.delete('${id}');`,
        cli: `headrace mcp-servers delete ${id}`,
      }}
    >
      Agents can no longer use <Plain text={name} />, those of runs that go on neither. Nothing brings its
      headers or variables back.
    </Ask>
  );
}
