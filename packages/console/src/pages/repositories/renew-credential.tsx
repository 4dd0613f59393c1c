import type { Installation } from '@headrace/client';
import { useState } from 'react';
import { useOffReason } from '../../api/write.ts';
import { AsCode } from '../../ui/as-code.tsx';
import { Button } from '../../ui/button.tsx';
import { Choices } from '../../ui/choices.tsx';
import { FaultLine } from '../../ui/fault-line.tsx';
import { CredentialFields } from './credential-fields.tsx';
import { CREDENTIAL_FIELDS, flagsOf, missingIn, NO_CREDENTIAL, sampleOf, secretsOf } from './credential.ts';
import type { Credential } from './credential.ts';
import { HowTo, siteOf } from './how-to.tsx';
import { useChange } from './use-change.ts';

const KINDS = [
  { id: 'app', text: 'A GitHub App' },
  { id: 'token', text: 'A personal access token' },
];

/** Replaces a credential: the old one is used until the new one has been tried. */
export function RenewCredential({
  installation: { id, auth, baseUrl },
  onClose,
}: {
  installation: Installation;
  onClose: () => void;
}) {
  const [credential, setCredential] = useState<Credential>({
    kind: auth === 'token' ? 'token' : 'app',
    ...NO_CREDENTIAL,
  });
  const off = useOffReason();
  const write = useChange({
    installationId: id,
    said: 'The new credential is in use. The repositories are read with it.',
    onDone: onClose,
  });
  const { kind } = credential;
  const offBecause = off ?? missingIn(credential);
  return (
    <form
      className="flex flex-col gap-4"
      autoComplete="off"
      onSubmit={(event) => {
        event.preventDefault();
        if (!offBecause && !write.isSending) write.send(secretsOf(credential));
      }}
    >
      <p className="text-ink-2">
        The service tries it first. If GitHub refuses it, the present one stays in use.
      </p>
      <Choices
        label="What it is"
        choices={KINDS}
        value={kind}
        onChange={(next) => setCredential({ ...credential, kind: next as Credential['kind'] })}
      />
      <details>
        <summary className="link w-fit">Where it comes from at GitHub</summary>
        <div className="pt-3">
          <HowTo kind={kind} site={baseUrl === null ? 'https://github.com' : siteOf(baseUrl)} />
        </div>
      </details>
      <CredentialFields
        value={credential}
        fault={write.fault}
        onChange={(change) => {
          setCredential((now) => ({ ...now, ...change }));
          if (write.fault) write.reset();
        }}
      />
      <FaultLine fault={write.fault} at={CREDENTIAL_FIELDS} />
      <div className="flex items-center justify-end gap-2">
        <AsCode
          method="PATCH"
          path={`/api/source-control/scm/installations/${id}`}
          body={sampleOf(kind)}
          isSession
          ts={`await client.scm.updateInstallation('${id}', ${JSON.stringify(sampleOf(kind))});`}
          cli={`headrace installations update ${id} ${flagsOf(kind)}`}
        />
        <Button onPress={onClose}>Cancel</Button>
        <Button type="submit" kind="primary" isPending={write.isSending} offBecause={offBecause}>
          Try it and use it
        </Button>
      </div>
    </form>
  );
}
