/** Who works in the organization, who is invited, and the organization itself. */
import type { Invitation, Member } from '@headrace/client';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { itemsOf } from '../../api/query.ts';
import { useIsAdmin } from '../../api/session.ts';
import { invitationsQuery, membersOf, membersQuery } from '../../api/team-queries.ts';
import { useOffReason } from '../../api/write.ts';
import { Plain } from '../../code/plain.tsx';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { useKeptFocus } from '../../ui/kept-focus.ts';
import { useKeys } from '../../ui/keys.ts';
import { Page, Section } from '../../ui/page.tsx';
import { ShowMore } from '../../ui/show-more.tsx';
import { Shown, Skeleton } from '../../ui/states.tsx';
import { Time } from '../../ui/values.tsx';
import { ChangeRole } from './change-role.tsx';
import { Invite } from './invite.tsx';
import { MemberList } from './member-list.tsx';
import { OrganizationSection } from './organization-section.tsx';
import { RemoveMember } from './remove-member.tsx';
import { RevokeInvitation } from './revoke-invitation.tsx';

type Over =
  | { is: 'role'; member: Member }
  | { is: 'remove'; member: Member }
  | { is: 'revoke'; invitation: Invitation };

const TITLES: Record<Over['is'], string> = {
  role: 'Change the role',
  remove: 'Remove a member',
  revoke: 'Revoke an invitation',
};

export function TeamPage() {
  const isAdmin = useIsAdmin();
  const off = useOffReason();
  const members = useInfiniteQuery(membersQuery());
  const invitations = useInfiniteQuery({ ...invitationsQuery(), enabled: isAdmin });
  const [over, setOver] = useState<Over | null>(null);
  const [isInviting, setInviting] = useState(false);
  const close = () => setOver(null);
  const kept = useKeptFocus();
  const invite = () => setInviting(true);
  useKeys(isAdmin ? [{ keys: 'n', does: 'Invite a person', run: invite }] : []);
  return (
    <Page
      title="Team"
      actions={
        isAdmin && (
          <Button kind="primary" offBecause={off} onPress={invite}>
            Invite a person
          </Button>
        )
      }
    >
      <Section title="Members">
        <Shown query={members}>
          {(data) => (
            <MemberList
              members={membersOf(data)}
              onChange={(member) => setOver({ is: 'role', member })}
              onRemove={(member) => setOver({ is: 'remove', member })}
            />
          )}
        </Shown>
        <ShowMore list={members} />
      </Section>
      {isAdmin && (
        <Section title="Open invitations">
          <div {...kept}>
            <Shown query={invitations} skeleton={<Skeleton lines={1} />}>
              {(data) =>
                data.pages.every(({ items }) => items.length === 0) ? (
                  <p className="px-4 pb-4 text-ink-2">
                    None. Invite a person, then give them the address that the console shows you.
                  </p>
                ) : (
                  <ul aria-label="Open invitations" className="border-t border-line">
                    {itemsOf(data).map((invitation) => (
                      <InvitationRow
                        key={invitation.id}
                        invitation={invitation}
                        onRevoke={() => setOver({ is: 'revoke', invitation })}
                      />
                    ))}
                  </ul>
                )
              }
            </Shown>
          </div>
          <ShowMore list={invitations} />
        </Section>
      )}
      <OrganizationSection />
      <Dialog title={over ? TITLES[over.is] : ''} isOpen={over !== null} onClose={close}>
        {over?.is === 'role' && <ChangeRole member={over.member} onClose={close} />}
        {over?.is === 'remove' && <RemoveMember member={over.member} onClose={close} />}
        {over?.is === 'revoke' && <RevokeInvitation invitation={over.invitation} onClose={close} />}
      </Dialog>
      <Invite isOpen={isInviting} onClose={() => setInviting(false)} />
    </Page>
  );
}

function InvitationRow({
  invitation: { email, role, expiresAt },
  onRevoke,
}: {
  invitation: Invitation;
  onRevoke: () => void;
}) {
  return (
    <li className="row flex-wrap gap-y-0 sm:flex-nowrap">
      <p className="long flex-1 basis-full sm:basis-60">
        <Plain text={email} />
      </p>
      <p className="w-20 text-ink-2">{role}</p>
      <p className="flex-1 text-12 text-ink-3 sm:w-32 sm:flex-none">
        ends <Time at={expiresAt} />
      </p>
      <span className="-mr-2.5 flex justify-end sm:w-36">
        <Button kind="quiet" data-row aria-label={`Revoke the invitation of ${email}`} onPress={onRevoke}>
          Revoke
        </Button>
      </span>
    </li>
  );
}
