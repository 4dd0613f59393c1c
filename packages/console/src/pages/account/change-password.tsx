import { HeadraceError } from '@headrace/client';
import { useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { Form } from 'react-aria-components/Form';
import { client } from '../../api/client.ts';
import { fieldFault, writeFaultOf } from '../../api/faults.ts';
import { newKey } from '../../api/pending.ts';
import { sessionsQuery } from '../../api/queries.ts';
import { useSession } from '../../api/session.ts';
import { isAnswered, useOffReason } from '../../api/write.ts';
import { Button } from '../../ui/button.tsx';
import { FaultLine } from '../../ui/fault-line.tsx';
import { Field } from '../../ui/fields.tsx';
import { notify } from '../../ui/notices.tsx';
import { Section } from '../../ui/page.tsx';
import { passwordFault, RULE } from './new-password.ts';

/** Not by `useWrite`: its key would be kept under a text that has the passwords in it. */
export function ChangePassword() {
  const { user } = useSession();
  const queries = useQueryClient();
  const [current, setCurrent] = useState('');
  const [next, setNext] = useState('');
  const [error, setError] = useState<unknown>(null);
  const [isSending, setSending] = useState(false);
  const [isTried, setTried] = useState(false);
  // Of a try without an answer: the same passwords again are the same write.
  const key = useRef<string | null>(null);
  const wrong = passwordFault(next);
  const off = useOffReason();
  const send = async () => {
    setSending(true);
    setError(null);
    key.current ??= newKey();
    try {
      await client.session.changePassword(
        { currentPassword: current, newPassword: next },
        { idempotencyKey: key.current },
      );
      key.current = null;
      setCurrent('');
      setNext('');
      setTried(false);
      notify('The password is changed. All other sessions have ended.');
      void queries.invalidateQueries({ queryKey: sessionsQuery().queryKey });
    } catch (failure) {
      if (isAnswered(failure)) key.current = null;
      setError(failure);
    } finally {
      setSending(false);
    }
  };
  // Its 403 is no question of what the user may see.
  const isWrong = error instanceof HeadraceError && error.status === 403;
  const fault = error === null || isWrong ? null : writeFaultOf(error);
  return (
    <Section title="Password">
      <Form
        className="flex max-w-[400px] flex-col gap-3 px-4 py-2 pb-6"
        onSubmit={(event) => {
          event.preventDefault();
          setTried(true);
          if (!off && !wrong) void send();
        }}
      >
        {/* Password managers look for it. */}
        <input type="text" autoComplete="username" value={user.email} readOnly hidden />
        <Field
          label="Current password"
          type="password"
          autoComplete="current-password"
          value={current}
          onChange={(value) => {
            key.current = null;
            setCurrent(value);
          }}
          fault={isWrong ? 'The current password is wrong.' : fieldFault(fault, '/currentPassword')}
          isRequired
        />
        <Field
          label="New password"
          type="password"
          autoComplete="new-password"
          hint={`${RULE}. All your other sessions end.`}
          value={next}
          onChange={(value) => {
            key.current = null;
            setNext(value);
          }}
          fault={(isTried ? wrong : null) ?? fieldFault(fault, '/newPassword')}
          isRequired
        />
        <FaultLine fault={fault} at={['/currentPassword', '/newPassword']} />
        <div>
          <Button type="submit" kind="primary" isPending={isSending} offBecause={off}>
            Change the password
          </Button>
        </div>
      </Form>
    </Section>
  );
}
