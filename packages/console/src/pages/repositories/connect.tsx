/** Connects GitHub: where the credential comes from, the credential, then the webhook with its secret, shown once. */
import type { Installation, ScmCreateInstallationInput } from '@headrace/client';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { client } from '../../api/client.ts';
import { fieldFault } from '../../api/faults.ts';
import { INSTALLATIONS, REPOSITORIES } from '../../api/repositories-queries.ts';
import { useOffReason, useWrite } from '../../api/write.ts';
import { AsCode, quoted } from '../../ui/as-code.tsx';
import { Button } from '../../ui/button.tsx';
import { Choices } from '../../ui/choices.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { FaultLine } from '../../ui/fault-line.tsx';
import { Field } from '../../ui/fields.tsx';
import { CredentialFields } from './credential-fields.tsx';
import { CREDENTIAL_FIELDS, flagsOf, missingIn, NO_CREDENTIAL, sampleOf, secretsOf } from './credential.ts';
import type { Credential } from './credential.ts';
import { HowTo, siteOf } from './how-to.tsx';
import { useHold } from './use-hold.ts';
import { WebhookSteps } from './webhook.tsx';
import { worded } from './words.ts';

interface Made {
  installation: Installation;
  /** Null where the answer to the first try was lost. */
  secret: string | null;
}

/** Held while the secret is made and shown: a key pressed by mistake would lose it. */
export function Connect({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const [made, setMade] = useState<Made | null>(null);
  const [isSending, setSending] = useState(false);
  const navigate = useNavigate();
  const close = () => {
    setMade(null);
    onClose();
  };
  return (
    <Dialog
      title={made ? 'Connected: now the webhook' : 'Connect GitHub'}
      wide
      isOpen={isOpen}
      isHeld={isSending || made !== null}
      onClose={close}
    >
      {made ? (
        <>
          <WebhookSteps installation={made.installation} secret={made.secret} />
          <div className="flex justify-end gap-2">
            <Button
              kind="primary"
              onPress={() => {
                const { id: installationId } = made.installation;
                close();
                void navigate({
                  to: '/organization/installations/$installationId',
                  params: { installationId },
                });
              }}
            >
              Done
            </Button>
          </div>
        </>
      ) : (
        <ConnectForm onHold={setSending} onMade={setMade} onClose={close} />
      )}
    </Dialog>
  );
}

const KINDS = [
  { id: 'app', text: 'A GitHub App' },
  { id: 'token', text: 'A personal access token' },
];
const PLACES = [
  { id: 'com', text: 'GitHub.com' },
  { id: 'enterprise', text: 'GitHub Enterprise Server' },
];
const OWN_FIELDS = ['/name', '/baseUrl', ...CREDENTIAL_FIELDS];

function ConnectForm({
  onHold,
  onMade,
  onClose,
}: {
  onHold: (isHeld: boolean) => void;
  onMade: (made: Made) => void;
  onClose: () => void;
}) {
  const [credential, setCredential] = useState<Credential>({ kind: 'app', ...NO_CREDENTIAL });
  const [place, setPlace] = useState('com');
  const [typed, setTyped] = useState({ name: '', baseUrl: '' });
  const queries = useQueryClient();
  const off = useOffReason();
  const plain: Omit<ScmCreateInstallationInput, 'token' | 'app'> = {
    provider: 'github',
    name: typed.name.trim(),
    ...(place === 'enterprise' && { baseUrl: typed.baseUrl.trim() }),
  };
  const write = useWrite({
    intent: 'connect GitHub',
    isSecret: true,
    call: (input: ScmCreateInstallationInput, options) =>
      worded(client.scm.createInstallation(input, options)),
    onDone: ({ installation, webhookSecret }) => {
      void queries.invalidateQueries({ queryKey: INSTALLATIONS });
      void queries.invalidateQueries({ queryKey: REPOSITORIES });
      onMade({ installation, secret: webhookSecret ?? null });
    },
  });
  useHold(onHold, write.isSending);
  const { kind } = credential;
  const missing = plain.name === '' ? 'Give the connection a name first.' : missingIn(credential);
  return (
    <form
      className="flex flex-col gap-4"
      autoComplete="off"
      onSubmit={(event) => {
        event.preventDefault();
        if (!(off ?? missing) && !write.isSending) write.send({ ...plain, ...secretsOf(credential) });
      }}
    >
      <Choices
        label="As whom the service acts"
        hint={
          kind === 'app'
            ? 'The better way for a team: a bot of its own, and only the repositories that you choose.'
            : 'For a first try, or if you may not create Apps: the service acts as you.'
        }
        choices={KINDS}
        value={kind}
        onChange={(id) => setCredential({ ...credential, kind: id as Credential['kind'] })}
      />
      <Choices label="Where" choices={PLACES} value={place} onChange={setPlace} />
      {place === 'enterprise' && (
        <Field
          label="Address of its API"
          hint="https://HOST/api/v3. A server inside your network needs a service that was started with HEADRACE_SCM_ALLOW_PRIVATE=1."
          mono
          value={typed.baseUrl}
          onChange={(baseUrl) => setTyped({ ...typed, baseUrl })}
          fault={fieldFault(write.fault, '/baseUrl')}
          maxLength={2048}
          placeholder="https://github.example.com/api/v3"
        />
      )}
      <section aria-label="At GitHub">
        <h3 className="pb-2 font-bold">At GitHub</h3>
        <HowTo kind={kind} site={place === 'enterprise' ? siteOf(typed.baseUrl) : 'https://github.com'} />
      </section>
      <h3 className="font-bold">Here</h3>
      <Field
        label="Name"
        hint="What it is called in this console: that of the account, for example."
        value={typed.name}
        onChange={(name) => setTyped({ ...typed, name })}
        fault={fieldFault(write.fault, '/name')}
        maxLength={100}
      />
      <CredentialFields
        value={credential}
        fault={write.fault}
        onChange={(change) => {
          setCredential((now) => ({ ...now, ...change }));
          if (write.fault) write.reset();
        }}
      />
      <FaultLine fault={write.fault} at={OWN_FIELDS} />
      <div className="flex flex-wrap items-center justify-end gap-2">
        <AsCode
          method="POST"
          path="/api/source-control/scm/installations"
          body={{ ...plain, ...sampleOf(kind) }}
          isSession
          ts={`await client.scm.createInstallation(${JSON.stringify({ ...plain, ...sampleOf(kind) })});`}
          cli={`headrace installations create ${quoted(plain.name || 'Acme')}${plain.baseUrl ? ` --base-url ${quoted(plain.baseUrl)}` : ''} ${flagsOf(kind)}`}
        />
        <Button isDisabled={write.isSending} onPress={onClose}>
          Cancel
        </Button>
        <Button type="submit" kind="primary" isPending={write.isSending} offBecause={off ?? missing}>
          Try it and connect
        </Button>
      </div>
    </form>
  );
}
