import type { Organization } from '@headrace/client';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Form } from 'react-aria-components/Form';
import { client } from '../../api/client.ts';
import { fieldFault, lineOf, writeFaultOf } from '../../api/faults.ts';
import { sessionQuery, useSession } from '../../api/session.ts';
import { useOffReason, useWrite } from '../../api/write.ts';
import { switchOrganization } from '../../app/switch-organization.ts';
import { Plain } from '../../code/plain.tsx';
import { AsCode, quoted } from '../../ui/as-code.tsx';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { FaultLine } from '../../ui/fault-line.tsx';
import { Field } from '../../ui/fields.tsx';
import { useKept } from '../../ui/kept.ts';
import { notify } from '../../ui/notices.tsx';
import { Fact, Facts, Section } from '../../ui/page.tsx';
import { Id } from '../../ui/values.tsx';
import { DeleteOrganization } from './delete-organization.tsx';

/** What this organization is, the user's others, and a new or no more one. */
export function OrganizationSection() {
  const { organizations, activeOrganizationId } = useSession();
  const [over, setOver] = useState<'create' | 'delete' | null>(null);
  const off = useOffReason();
  const close = () => setOver(null);
  const active = organizations.find(({ id }) => id === activeOrganizationId);
  const others = organizations.filter(({ id }) => id !== activeOrganizationId);
  const isOwnerOfAny = organizations.some(({ role }) => role === 'owner');
  return (
    <>
      {active && (
        <Section title="This organization">
          <Facts>
            <Fact name="Name">
              <Plain text={active.name} />
              <span className="text-ink-3">cannot be changed</span>
            </Fact>
            <Fact name="Id">
              <Id value={active.id} />
            </Fact>
            <Fact name="Your role">{active.role}</Fact>
          </Facts>
          {active.role === 'owner' && (
            <div className="flex flex-wrap items-center gap-x-4 gap-y-2 px-4 pt-1 pb-4">
              <p className="max-w-[64ch] text-ink-2">
                Without it, all its apps, projects and keys are gone, too.
              </p>
              <Button kind="danger" offBecause={off} onPress={() => setOver('delete')}>
                Delete the organization
              </Button>
            </div>
          )}
        </Section>
      )}
      <Section
        title="Your other organizations"
        actions={
          isOwnerOfAny && (
            <Button offBecause={off} onPress={() => setOver('create')}>
              Create an organization
            </Button>
          )
        }
      >
        {others.length === 0 ? (
          <p className="max-w-[72ch] px-4 pb-6 text-ink-2">
            None. Another organization has its own apps, members, keys and secrets, and shares nothing with
            this one.{!isOwnerOfAny && ' An owner of any organization can create one.'}
          </p>
        ) : (
          <ul aria-label="Your other organizations" className="border-t border-line">
            {others.map((organization) => (
              <Other key={organization.id} organization={organization} />
            ))}
          </ul>
        )}
      </Section>
      <Dialog title="Create an organization" isOpen={over === 'create'} onClose={close}>
        <CreateOrganization onClose={close} />
      </Dialog>
      {active && (
        <Dialog title="Delete the organization" isOpen={over === 'delete'} onClose={close}>
          <DeleteOrganization organization={active} others={others} onClose={close} />
        </Dialog>
      )}
    </>
  );
}

function Other({ organization: { id, name, role } }: { organization: Organization }) {
  const off = useOffReason();
  const [isSending, setSending] = useState(false);
  const go = async () => {
    setSending(true);
    try {
      await switchOrganization(id);
    } catch (error) {
      setSending(false);
      notify(lineOf(writeFaultOf(error)), 'fail');
    }
  };
  return (
    <li className="row flex-wrap gap-y-0 sm:flex-nowrap">
      <p className="long flex-1 basis-full sm:basis-60">
        <Plain text={name} />
      </p>
      <p className="w-20 text-ink-2">{role}</p>
      <span className="flex-1 sm:w-32 sm:flex-none">
        <Id value={id} />
      </span>
      <span className="-mr-2.5 flex items-center justify-end sm:w-36">
        <AsCode
          method="PUT"
          path="/api/session/organization"
          body={{ organizationId: id }}
          isSession
          ts={`await client.session.switchOrganization({ organizationId: '${id}' });`}
          cli={`headrace organization switch ${id}`}
        />
        <Button
          kind="quiet"
          data-row
          aria-label={`Switch to ${name}`}
          isPending={isSending}
          offBecause={off}
          onPress={() => void go()}
        >
          Switch
        </Button>
      </span>
    </li>
  );
}

function CreateOrganization({ onClose }: { onClose: () => void }) {
  const [name, setName] = useKept('new organization', '');
  const queries = useQueryClient();
  const off = useOffReason();
  const body = { name: name.trim() };
  const write = useWrite({
    intent: 'create organization',
    call: (input: { name: string }, options) => client.organizations.create(input, options),
    onDone: async (made) => {
      setName('');
      await queries.invalidateQueries({ queryKey: sessionQuery.queryKey });
      notify(`${made.name} is there. Switch to it to work in it.`);
      onClose();
    },
  });
  return (
    <Form
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        if (!off && !write.isSending) write.send(body);
      }}
    >
      <p className="text-ink-2">It is empty, and you are its owner. Its name cannot be changed later.</p>
      <Field
        label="Name"
        value={name}
        onChange={setName}
        fault={fieldFault(write.fault, '/name')}
        maxLength={200}
        isRequired
        autoFocus
      />
      <FaultLine fault={write.fault} at={['/name']} />
      <div className="flex items-center justify-end gap-2">
        <AsCode
          method="POST"
          path="/api/organizations"
          body={body}
          isSession
          ts={`const organization = await client.organizations.create(${JSON.stringify(body)});`}
          cli={`headrace organization create ${quoted(body.name)}`}
        />
        <Button onPress={onClose}>Cancel</Button>
        <Button type="submit" kind="primary" isPending={write.isSending} offBecause={off}>
          Create
        </Button>
      </div>
    </Form>
  );
}
