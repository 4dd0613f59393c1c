import type { ChangePasswordInput } from '@headrace/client';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Form } from 'react-aria-components/Form';
import { client } from '../../api/client.ts';
import { fieldFault } from '../../api/faults.ts';
import { sessionsQuery } from '../../api/queries.ts';
import { useSession } from '../../api/session.ts';
import { useOffReason, useWrite } from '../../api/write.ts';
import { AsCode } from '../../ui/as-code.tsx';
import { Button } from '../../ui/button.tsx';
import { FaultLine } from '../../ui/fault-line.tsx';
import { Field } from '../../ui/fields.tsx';
import { notify } from '../../ui/notices.tsx';
import { Section } from '../../ui/page.tsx';
import { passwordFault, RULE } from './new-password.ts';

/** What is typed is in no sample. */
const SAMPLE = { currentPassword: 'THE CURRENT ONE', newPassword: 'THE NEW ONE' };

export function ChangePassword() {
  const { user } = useSession();
  const queries = useQueryClient();
  const [current, setCurrent] = useState('');
  const [next, setNext] = useState('');
  const [isTried, setTried] = useState(false);
  const write = useWrite({
    intent: 'change the password',
    isSecret: true,
    call: (input: ChangePasswordInput, options) => client.session.changePassword(input, options),
    onDone: () => {
      setCurrent('');
      setNext('');
      setTried(false);
      notify('The password is changed. All other sessions have ended.');
      void queries.invalidateQueries({ queryKey: sessionsQuery().queryKey });
    },
  });
  const wrong = passwordFault(next);
  const off = useOffReason();
  // Its 403 is no question of what the user may see.
  const isWrong = write.fault?.status === 403;
  const fault = isWrong ? null : write.fault;
  return (
    <Section title="Password">
      <Form
        className="flex max-w-[400px] flex-col gap-3 px-4 py-2 pb-6"
        onSubmit={(event) => {
          event.preventDefault();
          setTried(true);
          if (!off && !wrong) write.send({ currentPassword: current, newPassword: next });
        }}
      >
        {/* Password managers look for it. */}
        <input type="text" autoComplete="username" value={user.email} readOnly hidden />
        <Field
          label="Current password"
          type="password"
          autoComplete="current-password"
          value={current}
          onChange={setCurrent}
          fault={isWrong ? 'The current password is wrong.' : fieldFault(fault, '/currentPassword')}
          isRequired
        />
        <Field
          label="New password"
          type="password"
          autoComplete="new-password"
          hint={`${RULE}. All your other sessions end.`}
          value={next}
          onChange={setNext}
          fault={(isTried ? wrong : null) ?? fieldFault(fault, '/newPassword')}
          isRequired
        />
        <FaultLine fault={fault} at={['/currentPassword', '/newPassword']} />
        <div className="flex items-center gap-2">
          <Button type="submit" kind="primary" isPending={write.isSending} offBecause={off}>
            Change the password
          </Button>
          <AsCode
            method="PATCH"
            path="/api/session/password"
            body={SAMPLE}
            isSession
            ts={`await client.session.changePassword(${JSON.stringify(SAMPLE)});`}
            cli="headrace password"
          />
        </div>
      </Form>
    </Section>
  );
}
