import type { Member } from '@headrace/client';
import { useSession } from '../../api/session.ts';
import { Plain } from '../../code/plain.tsx';
import { Button } from '../../ui/button.tsx';
import { useKeptFocus } from '../../ui/kept-focus.ts';
import { Time } from '../../ui/values.tsx';
import { mayChange, useRole } from './roles.ts';

export function MemberList({
  members,
  onChange,
  onRemove,
}: {
  members: readonly Member[];
  onChange: (member: Member) => void;
  onRemove: (member: Member) => void;
}) {
  const { user } = useSession();
  const own = useRole();
  const kept = useKeptFocus();
  return (
    <ul aria-label="Members" {...kept} className="border-t border-line">
      {members.map((member) => (
        <li key={member.userId} className="row flex-wrap gap-y-0 sm:flex-nowrap">
          <div className="min-w-0 flex-1 basis-full sm:basis-60">
            <p className="long">
              <Plain text={member.name} />
              {member.userId === user.id && <span className="text-done"> · you</span>}
            </p>
            <p className="long text-12 text-ink-3">
              <Plain text={member.email} />
            </p>
          </div>
          <p className="w-20 text-ink-2">{member.role}</p>
          <p className="flex-1 text-12 text-ink-3 sm:w-32 sm:flex-none">
            joined <Time at={member.createdAt} />
          </p>
          {own !== 'member' && (
            <span className="-mr-2.5 flex justify-end sm:w-36">
              {mayChange(own, member.role) && (
                <>
                  <Button
                    kind="quiet"
                    data-row
                    aria-label={`Change the role of ${member.email}`}
                    onPress={() => onChange(member)}
                  >
                    Change
                  </Button>
                  <Button kind="quiet" aria-label={`Remove ${member.email}`} onPress={() => onRemove(member)}>
                    Remove
                  </Button>
                </>
              )}
            </span>
          )}
        </li>
      ))}
    </ul>
  );
}
