import type { UpdateOrganizationSettingsInput } from '@headrace/client';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Form } from 'react-aria-components/Form';
import { client } from '../../api/client.ts';
import { fieldFault } from '../../api/faults.ts';
import type { Fault } from '../../api/faults.ts';
import { organizationSettingsQuery } from '../../api/queries.ts';
import { useOffReason, useWrite } from '../../api/write.ts';
import { AsCode, quoted } from '../../ui/as-code.tsx';
import { Button } from '../../ui/button.tsx';
import { FaultLine } from '../../ui/fault-line.tsx';
import { Field } from '../../ui/fields.tsx';
import { useKept } from '../../ui/kept.ts';
import { notify } from '../../ui/notices.tsx';
import { Page, Section } from '../../ui/page.tsx';
import { Shown, Skeleton } from '../../ui/states.tsx';
import { INSTRUCTIONS_CHARACTERS } from './instructions.tsx';
import { OrganizationSetup } from './setup.tsx';
import { setupDraftOf, setupOf, wrongInSetup } from './setup-draft.ts';

/** What holds in all apps of the organization; its owners and admins may read it. */
export function OrganizationSettingsPage() {
  const settings = useQuery(organizationSettingsQuery());
  return (
    <Page title="Settings of the organization">
      <p className="px-4 pb-3 text-ink-2">
        They hold in every app.{' '}
        <Link to="/organization/environment" className="link">
          Variables of the organization
        </Link>
      </p>
      <Section title="Instructions">
        <Shown query={settings} skeleton={<Skeleton lines={6} />}>
          {(stored) => (
            <PartForm
              name="instructions"
              now={stored.instructions ?? ''}
              bodyOf={(text) => ({ instructions: text.trim() === '' ? null : text })}
            >
              {(text, setText, fault) => (
                <Field
                  label="For agents in all apps"
                  lines={10}
                  value={text}
                  onChange={setText}
                  maxLength={INSTRUCTIONS_CHARACTERS}
                  hint="Agents get them with each run. An app’s own instructions come after them."
                  fault={fieldFault(fault, '/instructions')}
                />
              )}
            </PartForm>
          )}
        </Shown>
      </Section>
      <Section title="Setup">
        <Shown query={settings} skeleton={<Skeleton lines={6} />}>
          {({ setup }) => (
            <PartForm
              name="setup"
              // A setting without a command means nothing here.
              now={setupDraftOf(setup?.command == null ? null : setup)}
              bodyOf={(draft) => ({ setup: setupOf(draft) })}
              isWrong={(draft) => Object.keys(wrongInSetup(draft)).length > 0}
            >
              {(value, onChange, fault) => (
                <OrganizationSetup value={value} onChange={onChange} fields={fault?.fields ?? []} />
              )}
            </PartForm>
          )}
        </Shown>
        <p className="px-4 pb-5 text-ink-2">
          Skills are what agents read when they need it.{' '}
          <Link to="/organization/skills" className="link">
            The organization’s skills
          </Link>
        </p>
      </Section>
    </Page>
  );
}

/** One setting with a form of its own; what is typed outlives a reload. */
function PartForm<T>({
  name,
  now,
  bodyOf,
  isWrong = () => false,
  children,
}: {
  name: 'instructions' | 'setup';
  now: T;
  bodyOf: (typed: T) => UpdateOrganizationSettingsInput;
  isWrong?: (typed: T) => boolean;
  children: (value: T, onChange: (value: T) => void, fault: Fault | null) => ReactNode;
}) {
  const [typed, setTyped] = useKept<T | null>(`${name} of the organization`, null);
  const queries = useQueryClient();
  const off = useOffReason();
  const value = typed ?? now;
  const body = bodyOf(value);
  const isChanged = !isSame(body, bodyOf(now));
  const offBecause = off ?? (isWrong(value) ? 'Some fields are wrong: see the marked ones.' : null);
  const write = useWrite({
    intent: `${name} of the organization`,
    call: (input: UpdateOrganizationSettingsInput, options) =>
      client.settings.updateOrganization(input, options),
    onDone: (settings, sent) => {
      queries.setQueryData(organizationSettingsQuery().queryKey, settings);
      // What was typed meanwhile stays.
      setTyped((latest) => (latest !== null && isSame(bodyOf(latest), sent) ? null : latest));
      notify('Saved. It holds from the next run on.');
    },
  });
  return (
    <Form
      className="flex max-w-[560px] flex-col gap-3 px-4 pt-1 pb-5"
      onSubmit={(event) => {
        event.preventDefault();
        if (!offBecause && isChanged && !write.isSending) write.send(body);
      }}
    >
      {children(value, setTyped, write.fault)}
      <FaultLine fault={write.fault} at={[`/${name}`]} />
      {isChanged && (
        <div className="flex items-center gap-2">
          <Button type="submit" kind="primary" isPending={write.isSending} offBecause={offBecause}>
            Save the {name}
          </Button>
          <Button
            isDisabled={write.isSending}
            onPress={() => {
              setTyped(null);
              write.reset();
            }}
          >
            Discard
          </Button>
          <AsCode
            method="PATCH"
            path="/api/settings"
            body={body}
            ts={`// Only with a session, not with a key.\nawait client.settings.updateOrganization(${JSON.stringify(body, null, 2)});`}
            cli={`headrace settings set --organization ${name}:=${quoted(JSON.stringify(body[name]))}`}
          />
        </div>
      )}
    </Form>
  );
}

const isSame = (one: object, other: object) => JSON.stringify(one) === JSON.stringify(other);
