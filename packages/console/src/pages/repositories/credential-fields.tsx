import { useRef, useState } from 'react';
import type { Fault } from '../../api/faults.ts';
import { Button } from '../../ui/button.tsx';
import { Field } from '../../ui/fields.tsx';
import { credentialFaults } from './credential.ts';
import type { Credential } from './credential.ts';

/** A key is some kilobytes; whatever is larger is another file. */
const MAX_KEY_BYTES = 20_000;

/** Where the credential is pasted. Browsers are asked to keep nothing of it. */
export function CredentialFields({
  value,
  fault,
  onChange,
}: {
  value: Credential;
  fault: Fault | null;
  onChange: (typed: Partial<Credential>) => void;
}) {
  const faults = credentialFaults(fault);
  if (value.kind === 'token')
    return (
      <Field
        label="Token"
        hint="Begins with github_pat_ or ghp_. It is stored encrypted and never shown again."
        mono
        type="password"
        autoComplete="off"
        value={value.token}
        onChange={(token) => onChange({ token })}
        fault={faults.token}
        maxLength={1000}
      />
    );
  return (
    <>
      <div className="grid gap-4 sm:grid-cols-2">
        <Field
          label="App ID"
          hint="At the top of the App’s page."
          mono
          autoComplete="off"
          value={value.appId}
          onChange={(appId) => onChange({ appId })}
          fault={faults.appId}
          maxLength={100}
        />
        <Field
          label="Installation id"
          hint="The number at the end of the address …/settings/installations/98765432. The whole address will do."
          mono
          autoComplete="off"
          value={value.installationId}
          onChange={(installationId) => onChange({ installationId })}
          fault={faults.installationId}
        />
      </div>
      <PrivateKey
        value={value.privateKey}
        fault={faults.privateKey}
        onChange={(privateKey) => onChange({ privateKey })}
      />
    </>
  );
}

function PrivateKey({
  value,
  fault,
  onChange,
}: {
  value: string;
  fault: string | null;
  onChange: (pem: string) => void;
}) {
  const input = useRef<HTMLInputElement>(null);
  const [wrongFile, setWrongFile] = useState<string | null>(null);
  const read = async (file: File) => {
    const isKey = file.size <= MAX_KEY_BYTES;
    setWrongFile(isKey ? null : 'This file is too large to be a private key.');
    if (isKey) onChange(await file.text());
  };
  return (
    <div className="flex flex-col items-start gap-2">
      <Field
        label="Private key (PEM)"
        hint="The content of the .pem file that GitHub saved. It is stored encrypted and never shown again."
        mono
        lines={4}
        autoComplete="off"
        value={value}
        onChange={(pem) => {
          setWrongFile(null);
          onChange(pem);
        }}
        fault={wrongFile ?? fault}
        maxLength={MAX_KEY_BYTES}
        placeholder="-----BEGIN RSA PRIVATE KEY-----"
      />
      <Button onPress={() => input.current?.click()}>Choose the .pem file</Button>
      <input
        ref={input}
        type="file"
        hidden
        aria-label="The .pem file"
        accept=".pem,.key,.txt"
        onChange={({ target }) => {
          const file = target.files?.[0];
          // The same choice again is a change, too.
          target.value = '';
          if (file) void read(file);
        }}
      />
    </div>
  );
}
