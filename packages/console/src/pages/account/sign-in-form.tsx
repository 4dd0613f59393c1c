import { useState } from 'react';
import { Form } from 'react-aria-components/Form';
import { HeadraceError } from '@headrace/client';
import { client } from '../../api/client.ts';
import { entryFaultOf, lineOf } from '../../api/faults.ts';
import { Button } from '../../ui/button.tsx';
import { Field } from '../../ui/fields.tsx';

/** `email`: who signs in again. */
export function SignInForm({ email = '', onDone }: { email?: string; onDone: () => void }) {
  const [address, setAddress] = useState(email);
  const [password, setPassword] = useState('');
  const [fault, setFault] = useState<string | null>(null);
  const [isSending, setSending] = useState(false);
  const send = async () => {
    setSending(true);
    setFault(null);
    try {
      await client.session.signIn({ email: address, password });
      onDone();
    } catch (error) {
      setFault(wordsOf(error));
    } finally {
      setSending(false);
    }
  };
  return (
    <Form
      className="flex flex-col gap-3"
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      <Field
        label="E-mail address"
        type="email"
        name="email"
        autoComplete="username"
        isRequired
        value={address}
        onChange={setAddress}
        autoFocus={!email}
      />
      <Field
        label="Password"
        type="password"
        name="password"
        autoComplete="current-password"
        isRequired
        value={password}
        onChange={setPassword}
        autoFocus={Boolean(email)}
      />
      {fault && (
        <p role="alert" className="long text-fail">
          {fault}
        </p>
      )}
      <div>
        <Button type="submit" kind="primary" isPending={isSending}>
          Sign in
        </Button>
      </div>
    </Form>
  );
}

function wordsOf(error: unknown): string {
  if (error instanceof HeadraceError && error.status === 401) return 'The address or the password is wrong.';
  return lineOf(entryFaultOf(error));
}
