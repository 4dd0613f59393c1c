import { useSession } from '../../api/session.ts';
import { Fact, Facts, Page, Section } from '../../ui/page.tsx';
import { Id } from '../../ui/values.tsx';
import { ChangePassword } from './change-password.tsx';
import { Preferences } from './preferences.tsx';
import { Sessions } from './sessions.tsx';

/** The signed-in user's own: who they are, password, sessions, and how the console looks to them. */
export function AccountPage() {
  const { user, organizations, activeOrganizationId } = useSession();
  return (
    <Page title="Your account">
      <Section title="You">
        <Facts>
          <Fact name="Name">{user.name}</Fact>
          <Fact name="E-mail">{user.email}</Fact>
          <Fact name="Id">
            <Id value={user.id} />
          </Fact>
          {organizations.map(({ id, name, role }) => (
            <Fact key={id} name={id === activeOrganizationId ? 'Organization' : 'Also in'}>
              {name}, as {role}
            </Fact>
          ))}
        </Facts>
      </Section>
      <Preferences />
      <ChangePassword />
      {/* Last: how many there are shows only when they are read, and nothing may move then. */}
      <Sessions />
    </Page>
  );
}
