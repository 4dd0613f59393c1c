import { useQueryClient } from '@tanstack/react-query';
import type { QueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Form } from 'react-aria-components/Form';
import { client } from '../../api/client.ts';
import { fieldFault } from '../../api/faults.ts';
import { modelKeysQuery } from '../../api/hooks-queries.ts';
import { useOffReason, useWrite } from '../../api/write.ts';
import { Ask } from '../../ui/ask.tsx';
import { AsCode } from '../../ui/as-code.tsx';
import { Button } from '../../ui/button.tsx';
import { FaultLine } from '../../ui/fault-line.tsx';
import { Field } from '../../ui/fields.tsx';
import { notify } from '../../ui/notices.tsx';
import { useIsMounted } from '../../ui/use-is-mounted.ts';

const pathOf = (provider: string) => `/api/model-keys/${provider}`;

/** A provider's models come and go with its key. */
async function refresh(queries: QueryClient): Promise<void> {
  await Promise.all([
    queries.invalidateQueries({ queryKey: modelKeysQuery().queryKey }),
    queries.invalidateQueries({ queryKey: ['models'] }),
  ]);
}

/** Sets or replaces a key. It is kept nowhere here. */
export function KeyForm({
  given,
  isThere,
  onClose,
}: {
  /** Null: the provider is asked for. */
  given: string | null;
  isThere: (provider: string) => boolean;
  onClose: () => void;
}) {
  const [typed, setTyped] = useState('');
  const [key, setKey] = useState('');
  const provider = given ?? typed.trim();
  const queries = useQueryClient();
  const off = useOffReason();
  const isHere = useIsMounted();
  const write = useWrite({
    intent: 'set a model key',
    isSecret: true,
    call: (sent: { provider: string; key: string }, options) =>
      client.modelKeys.set(sent.provider, { key: sent.key }, options),
    onDone: (made) => {
      void refresh(queries);
      notify(`The key of ${made.provider} is set. It holds from the next call on.`);
      // Another dialog may be open by now.
      if (isHere.current) onClose();
    },
  });
  const missing = provider === '' ? 'Name the provider.' : key.trim() === '' ? 'Give the key.' : null;
  return (
    <Form
      className="flex flex-col gap-4"
      autoComplete="off"
      onSubmit={(event) => {
        event.preventDefault();
        // What was pasted may end with a line's end.
        if (!off && !missing && !write.isSending) write.send({ provider, key: key.trim() });
      }}
    >
      {given === null && (
        <Field
          label="Provider"
          mono
          placeholder="anthropic"
          hint={
            isThere(provider)
              ? 'It has a key: this one takes its place.'
              : 'What stands before the / of a model: anthropic, openai, or one of the configuration file.'
          }
          value={typed}
          onChange={setTyped}
          fault={fieldFault(write.fault, '/params/provider')}
          maxLength={64}
          autoFocus
          autoComplete="off"
        />
      )}
      <Field
        label="Key"
        mono
        type="password"
        value={key}
        onChange={setKey}
        hint="Stored encrypted, and never shown again. It enters no sandbox: the service adds it to the calls of agents."
        fault={fieldFault(write.fault, '/key')}
        autoFocus={given !== null}
        autoComplete="new-password"
        spellCheck="false"
      />
      <FaultLine fault={write.fault} at={['/params/provider', '/key']} />
      <div className="flex items-center justify-end gap-2">
        <AsCode
          method="PUT"
          path={pathOf(provider || 'PROVIDER')}
          body={{ key: 'THE KEY' }}
          isSession
          ts={`await client.modelKeys.set('${provider || 'PROVIDER'}', { key: 'THE KEY' });`}
          cli={`headrace model-keys set ${provider || 'PROVIDER'} < key.txt`}
        />
        <Button onPress={onClose}>Cancel</Button>
        <Button type="submit" kind="primary" isPending={write.isSending} offBecause={off ?? missing}>
          {given !== null || isThere(provider) ? 'Replace the key' : 'Set the key'}
        </Button>
      </div>
    </Form>
  );
}

export function DeleteKey({ provider, onClose }: { provider: string; onClose: () => void }) {
  const queries = useQueryClient();
  const isHere = useIsMounted();
  const write = useWrite({
    intent: `delete the key of ${provider}`,
    call: (_: null, options) => client.modelKeys.delete(provider, options),
    onDone: () => {
      void refresh(queries);
      notify(`The key of ${provider} is deleted.`);
      if (isHere.current) onClose();
    },
  });
  return (
    <Ask
      verb="Delete the key"
      write={write}
      onClose={onClose}
      code={{
        method: 'DELETE',
        path: pathOf(provider),
        isSession: true,
        ts: `await client.modelKeys.delete('${provider}');`,
        cli: `headrace model-keys rm ${provider}`,
      }}
    >
      From the next call on, runs with models of {provider} fail with not_configured, those under way too.
      Nothing brings the key back.
    </Ask>
  );
}
