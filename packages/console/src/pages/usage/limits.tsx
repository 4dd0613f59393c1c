import type { Settings, UpdateOrganizationSettingsInput } from '@headrace/client';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { Form } from 'react-aria-components/Form';
import { client } from '../../api/client.ts';
import { fieldFault } from '../../api/faults.ts';
import { organizationSettingsQuery } from '../../api/queries.ts';
import { useIsAdmin } from '../../api/session.ts';
import { useOffReason, useWrite } from '../../api/write.ts';
import { AsCode } from '../../ui/as-code.tsx';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { FaultLine } from '../../ui/fault-line.tsx';
import { Field } from '../../ui/fields.tsx';
import { notify } from '../../ui/notices.tsx';
import { Fact, Facts, Section } from '../../ui/page.tsx';
import { Shown, Skeleton } from '../../ui/states.tsx';
import { dollars } from '../../ui/values.tsx';
import { inDollars, microsOf, MONEY } from '../settings/draft.ts';

/** What the organization may spend, for its owners and admins. */
export function Limits() {
  const isAdmin = useIsAdmin();
  const settings = useQuery({ ...organizationSettingsQuery(), enabled: isAdmin });
  const [isOpen, setOpen] = useState(false);
  const off = useOffReason();
  const close = () => setOpen(false);
  if (!isAdmin) return null;
  return (
    <Section
      title="Limits"
      actions={
        settings.data && (
          <Button offBecause={off} onPress={() => setOpen(true)}>
            Change the limits
          </Button>
        )
      }
    >
      <Shown query={settings} skeleton={<Skeleton lines={2} height={24} />}>
        {(stored) => (
          <>
            <Facts>
              <Fact name="A month, in UTC">
                {stored.budgetMicros === null
                  ? 'No budget of the organization'
                  : `${dollars(stored.budgetMicros)} for the whole organization`}
              </Fact>
              <Fact name="A new thread">
                {stored.spendLimitMicros === null ? 'No limit' : dollars(stored.spendLimitMicros)}
              </Fact>
            </Facts>
            <p className="max-w-[72ch] px-4 pb-6 text-ink-2">
              <Link to="/apps" className="link">
                Apps
              </Link>{' '}
              have a budget and a limit of their own in their settings, and a thread its limit on its page.
            </p>
            <Dialog title="Change the limits" isOpen={isOpen} onClose={close}>
              <LimitsForm stored={stored} onClose={close} />
            </Dialog>
          </>
        )}
      </Shown>
    </Section>
  );
}

const faultOf = (text: string) =>
  text.trim() === '' || MONEY.test(text.trim()) ? null : 'An amount in dollars, such as 12.50, or nothing.';

/** Sends only what differs from what it showed at first: another admin may have changed the rest meanwhile. */
function LimitsForm({ stored, onClose }: { stored: Settings; onClose: () => void }) {
  const [before] = useState(stored);
  const [budget, setBudget] = useState(inDollars(before.budgetMicros));
  const [limit, setLimit] = useState(inDollars(before.spendLimitMicros));
  const queries = useQueryClient();
  const off = useOffReason();
  const isWrong = faultOf(budget) !== null || faultOf(limit) !== null;
  const body: Pick<UpdateOrganizationSettingsInput, 'budgetMicros' | 'spendLimitMicros'> = {};
  if (!isWrong && microsOf(budget) !== before.budgetMicros) body.budgetMicros = microsOf(budget);
  if (!isWrong && microsOf(limit) !== before.spendLimitMicros) body.spendLimitMicros = microsOf(limit);
  const changed = Object.entries(body);
  const write = useWrite({
    intent: 'limits of the organization',
    call: (input: typeof body, options) => client.settings.updateOrganization(input, options),
    onDone: (settings) => {
      queries.setQueryData(organizationSettingsQuery().queryKey, settings);
      notify('Saved. It holds from the next call of a model on.');
      onClose();
    },
  });
  const wrong = isWrong
    ? 'Some fields are wrong: see the marked ones.'
    : changed.length === 0
      ? 'Nothing is changed.'
      : null;
  const offBecause = off ?? wrong;
  return (
    <Form
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        if (!offBecause && !write.isSending) write.send(body);
      }}
    >
      <Field
        label="Budget of a month, in dollars"
        inputMode="decimal"
        value={budget}
        onChange={setBudget}
        hint="Of all apps together, from the first of the month in UTC. Empty: none."
        fault={faultOf(budget) ?? fieldFault(write.fault, '/budgetMicros')}
        autoFocus
      />
      <Field
        label="Limit of a new thread, in dollars"
        inputMode="decimal"
        value={limit}
        onChange={setLimit}
        hint="Unless its app says another one. Empty: none."
        fault={faultOf(limit) ?? fieldFault(write.fault, '/spendLimitMicros')}
      />
      <FaultLine fault={write.fault} at={['/budgetMicros', '/spendLimitMicros']} />
      <div className="flex items-center justify-end gap-2">
        <AsCode
          method="PATCH"
          path="/api/settings"
          body={body}
          isSession
          ts={`await client.settings.updateOrganization(${JSON.stringify(body)});`}
          cli={[
            'headrace settings set --organization',
            ...changed.map(([name, micros]) => `${name}:=${micros}`),
          ].join(' ')}
        />
        <Button onPress={onClose}>Cancel</Button>
        <Button type="submit" kind="primary" isPending={write.isSending} offBecause={offBecause}>
          Save the limits
        </Button>
      </div>
    </Form>
  );
}
