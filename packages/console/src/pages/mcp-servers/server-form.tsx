import type { CreateMcpServerInput, McpServer, UpdateMcpServerInput } from '@headrace/client';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Form } from 'react-aria-components/Form';
import { client } from '../../api/client.ts';
import { fieldFault } from '../../api/faults.ts';
import { mcpServersQuery } from '../../api/hooks-queries.ts';
import { useOffReason, useWrite } from '../../api/write.ts';
import { AsCode, quoted } from '../../ui/as-code.tsx';
import type { AsCodeProps } from '../../ui/as-code.tsx';
import { Button } from '../../ui/button.tsx';
import { Choices } from '../../ui/choices.tsx';
import { FaultLine } from '../../ui/fault-line.tsx';
import { Field } from '../../ui/fields.tsx';
import { notify } from '../../ui/notices.tsx';
import { useIsMounted } from '../../ui/use-is-mounted.ts';
import { bodyOf, changesOf, draftOf, isMoved, namesOf, trimmed } from './draft.ts';
import type { Draft } from './draft.ts';
import { ProjectsField } from './projects-field.tsx';
import { rowsFault, rowsOf, SecretRows } from './secret-rows.tsx';

/** What stands in samples for a value: they are copied, and shown to others. */
const PLACEHOLDER = 'THE VALUE';

/** A new server, or changes of one. What is typed is kept nowhere. */
export function ServerForm({ server, onClose }: { server: McpServer | null; onClose: () => void }) {
  const [draft, setDraft] = useState(() => draftOf(server));
  const set = (change: Partial<Draft>) => setDraft((now) => ({ ...now, ...change }));
  const queries = useQueryClient();
  const off = useOffReason();
  const isHere = useIsMounted();
  const write = useWrite({
    intent: server ? `change MCP server ${server.id}` : 'create an MCP server',
    isSecret: true,
    call: (body: CreateMcpServerInput | UpdateMcpServerInput, options) =>
      server
        ? client.mcpServers.update(server.id, body, options)
        : client.mcpServers.create(body as CreateMcpServerInput, options),
    onDone: (now) => {
      void queries.invalidateQueries({ queryKey: mcpServersQuery().queryKey });
      notify(server ? `${now.name} is changed.` : `Runs that start from now on can use ${now.name}.`);
      // Another dialog may be open by now.
      if (isHere.current) onClose();
    },
  });
  const isHttp = draft.transport === 'http';
  const what = isHttp ? 'header' : 'variable';
  const kept = server && !isMoved(server, draft) ? namesOf(server) : [];
  // What was set for another place goes, whether it is replaced or not.
  const isKept = draft.secrets === null && kept.length > 0;
  const rows = draft.secrets ?? [];
  const sent = { ...draft, secrets: isKept ? null : rows };
  const isNothing = server !== null && isUnchanged(server, sent);
  const missing =
    draft.name.trim() === ''
      ? 'Give it a name.'
      : (isHttp ? draft.url : draft.command).trim() === ''
        ? isHttp
          ? 'Give its URL.'
          : 'Give its command.'
        : (rowsFault(rows, isHttp) ??
          (draft.projectIds?.length === 0 ? 'Choose at least one app or project.' : null));
  const offBecause = off ?? missing ?? (isNothing ? 'Nothing is changed.' : null);
  const at = isHttp ? '/headers' : '/env';
  return (
    <Form
      className="flex flex-col gap-4"
      autoComplete="off"
      onSubmit={(event) => {
        event.preventDefault();
        if (!offBecause && !write.isSending)
          write.send(server ? changesOf(server, trimmed(server, sent)) : bodyOf(sent));
      }}
    >
      <Field
        label="Name"
        placeholder="tickets"
        hint="Agents tell servers apart by it."
        value={draft.name}
        onChange={(name) => set({ name })}
        fault={fieldFault(write.fault, '/name')}
        maxLength={100}
        autoFocus
      />
      <Choices
        label="Where it runs"
        choices={[
          { id: 'http', text: 'Over HTTP' },
          { id: 'stdio', text: 'As a command in the sandbox' },
        ]}
        value={draft.transport}
        onChange={(transport) => set({ transport, secrets: transport === server?.transport ? null : [] })}
        hint={
          isHttp
            ? 'The service calls it and adds the headers. They never enter a sandbox.'
            : 'It has no network beyond the app’s egress, and everything in the sandbox can read its variables.'
        }
      />
      {isHttp ? (
        <Field
          label="URL"
          mono
          placeholder="https://mcp.example.com/"
          hint="Streamable HTTP. It is visible to all who may read servers: put credentials into headers."
          value={draft.url}
          onChange={(url) => set({ url })}
          fault={fieldFault(write.fault, '/url')}
          maxLength={2048}
        />
      ) : (
        <Field
          label="Command"
          mono
          lines={2}
          placeholder="node tools/notes-mcp.mjs"
          hint="A line of /bin/sh, run in the workspace. It is visible: put secrets into variables."
          value={draft.command}
          onChange={(command) => set({ command })}
          fault={fieldFault(write.fault, '/command')}
        />
      )}
      <div className="flex flex-col items-start gap-2">
        <span className="label">{isHttp ? 'Headers' : 'Variables'}</span>
        {isKept ? (
          <>
            <p className="long">
              <span className="font-mono text-mono">{kept.join(', ')}</span>{' '}
              <span className="text-ink-3">set, never shown</span>
            </p>
            <Button onPress={() => set({ secrets: rowsOf(kept) })}>Replace or remove them</Button>
          </>
        ) : (
          <>
            {server !== null && namesOf(server).length > 0 && (
              <p className="text-12 text-wait">
                {kept.length > 0
                  ? 'They are replaced as a whole: give each value again, and remove those that are to go.'
                  : `Those that are set were given for another place, so they go. Give the ${what}s again that it needs.`}
              </p>
            )}
            <SecretRows
              what={what}
              rows={rows}
              onChange={(secrets) => set({ secrets })}
              faultOf={(name) => fieldFault(write.fault, `${at}/${name.replaceAll('~', '~0')}`)}
            >
              {kept.length > 0 && (
                <Button onPress={() => set({ secrets: null })}>Keep those that are set</Button>
              )}
            </SecretRows>
          </>
        )}
      </div>
      <ProjectsField value={draft.projectIds} onChange={(projectIds) => set({ projectIds })} />
      <FaultLine fault={write.fault} at={['/name', '/url', '/command']} />
      <div className="flex items-center justify-end gap-2">
        <AsCode {...samplesOf(server, trimmed(server, sent))} />
        <Button onPress={onClose}>Cancel</Button>
        <Button type="submit" kind="primary" isPending={write.isSending} offBecause={offBecause}>
          {server ? 'Save' : 'Create'}
        </Button>
      </div>
    </Form>
  );
}

const isUnchanged = (server: McpServer, draft: Draft): boolean =>
  Object.keys(changesOf(server, trimmed(server, draft))).length === 0;

function samplesOf(server: McpServer | null, draft: Draft): AsCodeProps {
  const names = draft.secrets?.map(({ name }) => name.trim() || 'NAME');
  const secrets = names && Object.fromEntries(names.map((name) => [name, PLACEHOLDER]));
  const body = server ? changesOf(server, draft, secrets) : bodyOf(draft, secrets ?? null);
  const json = JSON.stringify(body, null, 2);
  const isHttp = draft.transport === 'http';
  const flags = [
    ...('name' in body && server ? [`--name ${quoted(body.name!)}`] : []),
    ...(body.url === undefined ? [] : [`--server-url ${quoted(body.url)}`]),
    ...(body.command === undefined ? [] : [`--command ${quoted(body.command)}`]),
    ...(names ?? []).map((name) =>
      isHttp ? `--header ${quoted(`${name}=@value.txt`)}` : `--env ${quoted(name)}`,
    ),
    ...(body.projectIds === null ? ['--all-apps'] : (body.projectIds ?? []).map((id) => `--only ${id}`)),
  ].join(' ');
  // No option says that none is to stay.
  const none = server && names?.length === 0 ? JSON.stringify(isHttp ? { headers: {} } : { env: {} }) : null;
  const update = `headrace mcp-servers update ${server?.id}${flags && ` ${flags}`}`;
  return server
    ? {
        method: 'PATCH',
        path: `/api/mcp-servers/${server.id}`,
        body,
        ts: `await client.mcpServers.update('${server.id}', ${json});`,
        cli: none ? `echo ${quoted(none)} | ${update} --input -` : flags ? update : null,
      }
    : {
        method: 'POST',
        path: '/api/mcp-servers',
        body,
        ts: `const server = await client.mcpServers.create(${json});`,
        cli: `headrace mcp-servers create ${quoted(draft.name.trim() || 'NAME')} ${flags}`,
      };
}
