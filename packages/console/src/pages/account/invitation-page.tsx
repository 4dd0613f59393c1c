import { HeadraceError } from '@headrace/client';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, Link, useRouter } from '@tanstack/react-router';
import { useState } from 'react';
import { Form } from 'react-aria-components/Form';
import { client } from '../../api/client.ts';
import { entryFaultOf, fieldFault, lineOf, writeFaultOf } from '../../api/faults.ts';
import type { Fault } from '../../api/faults.ts';
import { sessionQuery } from '../../api/session.ts';
import { FaultLine } from '../../ui/fault-line.tsx';
import { Button } from '../../ui/button.tsx';
import { Checkbox, Field } from '../../ui/fields.tsx';
import { notify } from '../../ui/notices.tsx';
import { useTitle } from '../../ui/page.tsx';
import { Empty } from '../../ui/states.tsx';
import { passwordFault, RULE } from './new-password.ts';

const route = getRouteApi('/invitations/$token');

/** Takes part in an organization, as a new user or as one who signs in here already. */
export function InvitationPage() {
  const [isDead, setDead] = useState(false);
  useTitle('Invitation');
  return (
    <main className="mx-auto flex min-h-dvh w-full max-w-[400px] flex-col justify-center gap-6 p-6">
      <h1 className="text-26 font-bold">Headrace</h1>
      {isDead ? <Dead /> : <Accept onDead={() => setDead(true)} />}
    </main>
  );
}

function Dead() {
  return (
    <Empty title="This invitation no longer works">
      <p>It was used, taken back, or is too old. Ask for a new one.</p>
      <Link to="/sign-in" className="link">
        Sign in
      </Link>
    </Empty>
  );
}

function Accept({ onDead }: { onDead: () => void }) {
  const { token } = route.useParams();
  const queries = useQueryClient();
  const router = useRouter();
  const [isKnown, setKnown] = useState(false);
  const [name, setName] = useState('');
  const [password, setPassword] = useState('');
  const [fault, setFault] = useState<Fault | null>(null);
  const [isSending, setSending] = useState(false);
  const [isTried, setTried] = useState(false);
  const wrong = isKnown ? null : passwordFault(password);
  const send = async () => {
    setSending(true);
    setFault(null);
    try {
      await client.invitations.accept(token, { name: name.trim(), password });
      queries.clear();
      await queries.fetchQuery({ ...sessionQuery, staleTime: 0 });
      await router.navigate({ to: '/', replace: true });
    } catch (error) {
      if (error instanceof HeadraceError && error.status === 404) onDead();
      else setFault(entryFaultOf(error));
    } finally {
      setSending(false);
    }
  };
  return (
    <>
      <SignedInAs />
      <Form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          setTried(true);
          if (!wrong) void send();
        }}
      >
        <p className="text-ink-2">You are invited to an organization.</p>
        {/* Always: who is mistaken about having a user gets this name. */}
        <Field
          label="Your name"
          autoComplete="name"
          hint={isKnown ? 'Used only if you are new here.' : undefined}
          value={name}
          onChange={setName}
          fault={fieldFault(fault, '/name')}
          isRequired
          maxLength={200}
          autoFocus
        />
        <Field
          label="Password"
          type="password"
          autoComplete={isKnown ? 'current-password' : 'new-password'}
          hint={isKnown ? 'The one that you sign in with.' : `${RULE}.`}
          value={password}
          onChange={setPassword}
          fault={(isTried ? wrong : null) ?? fieldFault(fault, '/password')}
          isRequired
        />
        <Checkbox isSelected={isKnown} onChange={setKnown}>
          I have signed in here before with this e-mail address
        </Checkbox>
        <FaultLine fault={fault} at={['/name', '/password']} />
        <div>
          <Button type="submit" kind="primary" isPending={isSending}>
            Accept the invitation
          </Button>
        </div>
      </Form>
    </>
  );
}

/** Who is signed in accepts only an invitation of their own. */
function SignedInAs() {
  const { data } = useQuery(sessionQuery);
  const queries = useQueryClient();
  if (!data) return null;
  const signOut = async () => {
    try {
      await client.session.signOut();
      queries.setQueryData(sessionQuery.queryKey, null);
    } catch (error) {
      notify(lineOf(writeFaultOf(error)), 'fail');
    }
  };
  return (
    <div className="flex flex-col items-start gap-2 border-l-2 border-wait pl-3">
      <p className="long">
        You are signed in as {data.user.email}. If the invitation is for somebody else, sign out first.
      </p>
      <Button onPress={() => void signOut()}>Sign out</Button>
    </div>
  );
}
