import type { Installation } from '@headrace/client';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import { installationQuery, isFirstRead } from '../../api/repositories-queries.ts';
import { useIsAdmin } from '../../api/session.ts';
import { Plain } from '../../code/plain.tsx';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Fact, Facts, Page, Section } from '../../ui/page.tsx';
import { Shown } from '../../ui/states.tsx';
import { Id, Time } from '../../ui/values.tsx';
import { DeleteInstallation } from './delete-installation.tsx';
import { NewSecret } from './new-secret.tsx';
import { State } from './scm-parts.tsx';
import { RenewCredential } from './renew-credential.tsx';
import { RenameInstallation } from './rename-installation.tsx';
import { Sync } from './sync.tsx';
import { WebhookSteps } from './webhook.tsx';
import { managerOf, providerName, remedyOf } from './words.ts';

const route = getRouteApi('/signed-in/organization/installations/$installationId');

const AUTH: Record<string, string> = { none: 'none', token: 'a personal access token', app: 'a GitHub App' };

export function InstallationPage() {
  const { installationId } = route.useParams();
  const installation = useQuery(installationQuery(installationId));
  const { data } = installation;
  const title = !data ? 'Installation' : data.provider === 'local' ? 'Hosted by this service' : data.name;
  return (
    <Page
      title={title}
      heading={
        <span className="flex flex-wrap items-center gap-3">
          <Plain text={title} />
          <span className="text-13 font-normal">{data && <State state={data.status} />}</span>
        </span>
      }
      actions={data && <Actions key={data.id} installation={data} />}
    >
      <Shown query={installation}>{(shown) => <About installation={shown} />}</Shown>
    </Page>
  );
}

type Over = 'rename' | 'credential' | 'secret' | 'delete';
const HEADINGS: Record<Over, string> = {
  rename: 'Rename the installation',
  credential: 'Give a new credential',
  secret: 'Set a new webhook secret',
  delete: 'Delete the installation',
};

function Actions({ installation }: { installation: Installation }) {
  const isAdmin = useIsAdmin();
  const [over, setOver] = useState<Over | null>(null);
  const [isHeld, setHeld] = useState(false);
  const close = () => setOver(null);
  const mayChange = isAdmin && installation.managedBy === 'api';
  return (
    <>
      {installation.managedBy !== 'service' && <Sync installation={installation} />}
      {mayChange && (
        <>
          <Button onPress={() => setOver('rename')}>Rename</Button>
          <Button onPress={() => setOver('credential')}>New credential</Button>
          <Button onPress={() => setOver('secret')}>New webhook secret</Button>
          <Button kind="danger" onPress={() => setOver('delete')}>
            Delete
          </Button>
        </>
      )}
      <Dialog
        title={over ? HEADINGS[over] : ''}
        wide={over === 'credential' || over === 'secret'}
        isOpen={over !== null}
        isHeld={isHeld}
        onClose={close}
      >
        {over === 'rename' && <RenameInstallation installation={installation} onClose={close} />}
        {over === 'credential' && <RenewCredential installation={installation} onClose={close} />}
        {over === 'secret' && <NewSecret installation={installation} onHold={setHeld} onClose={close} />}
        {over === 'delete' && <DeleteInstallation installation={installation} onClose={close} />}
      </Dialog>
    </>
  );
}

function About({ installation }: { installation: Installation }) {
  const { id, provider, accountLogin, baseUrl, auth, error, syncedAt, createdAt } = installation;
  return (
    <>
      {error && (
        <div className="mx-4 mb-2 border-l-2 border-fail pl-3">
          <p className="long text-fail">
            <Plain text={error.message} />
          </p>
          <p className="text-ink-2">{remedyOf(installation)}</p>
        </div>
      )}
      <Facts>
        <Fact name="Host">{providerName(provider)}</Fact>
        {accountLogin !== null && (
          <Fact name="Account">
            <Plain text={accountLogin} />
          </Fact>
        )}
        {baseUrl !== null && (
          <Fact name="Address">
            <span className="long font-mono text-mono">
              <Plain text={baseUrl} />
            </span>
          </Fact>
        )}
        {auth !== 'none' && <Fact name="Credential">{AUTH[auth] ?? auth}</Fact>}
        <Fact name="Managed by">{managerOf(installation)}</Fact>
        {provider !== 'local' && (
          <Fact name="Last read">
            {syncedAt === null ? (
              isFirstRead(installation) ? (
                'The repositories are read now'
              ) : (
                'never'
              )
            ) : (
              <Time at={syncedAt} />
            )}
          </Fact>
        )}
        <Fact name="Since">
          <Time at={createdAt} />
        </Fact>
        <Fact name="Id">
          <Id value={id} />
        </Fact>
        <Fact name="Repositories">
          <Link to="/organization/repositories" search={{ installationId: id }} className="link">
            Those that it sees
          </Link>
        </Fact>
      </Facts>
      {installation.webhookUrl !== null && (
        <Section title="Webhook">
          <div className="px-4 pb-6">
            <WebhookSteps installation={installation} secret={null} />
          </div>
        </Section>
      )}
    </>
  );
}
