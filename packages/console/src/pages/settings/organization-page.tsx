import type { Settings } from '@headrace/client';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Form } from 'react-aria-components/Form';
import { client } from '../../api/client.ts';
import { fieldFault } from '../../api/faults.ts';
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
          {(stored) => <Instructions stored={stored} />}
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

function Instructions({ stored }: { stored: Settings }) {
  const now = stored.instructions ?? '';
  const [typed, setTyped] = useKept<string | null>('instructions of the organization', null);
  const queries = useQueryClient();
  const off = useOffReason();
  const text = typed ?? now;
  const isChanged = text !== now;
  const body = { instructions: text.trim() === '' ? null : text };
  const write = useWrite({
    intent: 'instructions of the organization',
    call: (input: typeof body, options) => client.settings.updateOrganization(input, options),
    onDone: (settings, sent) => {
      queries.setQueryData(organizationSettingsQuery().queryKey, settings);
      // What was typed meanwhile stays.
      setTyped((latest) => ((latest ?? '') === (sent.instructions ?? '') ? null : latest));
      notify('Saved. It holds from the next run on.');
    },
  });
  return (
    <Form
      className="flex max-w-[560px] flex-col gap-3 px-4 pt-1 pb-5"
      onSubmit={(event) => {
        event.preventDefault();
        if (!off && isChanged && !write.isSending) write.send(body);
      }}
    >
      <Field
        label="For agents in all apps"
        lines={10}
        value={text}
        onChange={setTyped}
        maxLength={INSTRUCTIONS_CHARACTERS}
        hint="Agents get them with each run. An app’s own instructions come after them."
        fault={fieldFault(write.fault, '/instructions')}
      />
      <FaultLine fault={write.fault} at={['/instructions']} />
      {isChanged && (
        <div className="flex items-center gap-2">
          <Button type="submit" kind="primary" isPending={write.isSending} offBecause={off}>
            Save the instructions
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
            cli={`headrace settings set --organization instructions:=${quoted(JSON.stringify(body.instructions))}`}
          />
        </div>
      )}
    </Form>
  );
}
