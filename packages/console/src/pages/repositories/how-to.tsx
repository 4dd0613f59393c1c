/** Where at GitHub a credential comes from, click by click. */
import type { ReactNode } from 'react';
import { OutsideLink } from '../../ui/outside-link.tsx';

const WRITE = 'Read and write';
const READ = 'Read-only';

const PERMISSIONS: readonly (readonly [name: string, access: string, why: string])[] = [
  ['Contents', WRITE, 'branches, commits, pushes'],
  ['Pull requests', WRITE, 'pull requests, reviews, replies'],
  ['Issues', WRITE, 'titles of issues, a comment with the pull request’s address'],
  ['Checks', READ, 'results of check runs'],
  ['Commit statuses', READ, 'results that other CI reports'],
  ['Actions', READ, 'logs of failed jobs'],
  ['Metadata', READ, 'GitHub sets it by itself'],
];

/** `site`: where people open GitHub in their browser. */
export const HowTo = ({ kind, site }: { kind: 'app' | 'token'; site: string }) =>
  kind === 'token' ? <HowToToken site={site} /> : <HowToApp site={site} />;

/** GitHub.com, or the Enterprise server of an API address; empty while that is none. */
export function siteOf(baseUrl: string): string {
  const url = URL.canParse(baseUrl.trim()) ? new URL(baseUrl.trim()) : null;
  if (!url || !/^https?:$/.test(url.protocol)) return '';
  return url.hostname === 'api.github.com' ? 'https://github.com' : url.origin;
}

const Steps = ({ children }: { children: ReactNode }) => (
  <ol className="flex max-w-[76ch] list-decimal flex-col gap-1.5 pl-5 text-ink-2 marker:text-ink-3">
    {children}
  </ol>
);
const B = ({ children }: { children: ReactNode }) => <b className="font-bold text-ink">{children}</b>;

function HowToToken({ site }: { site: string }) {
  return (
    <Steps>
      <li>
        Open{' '}
        <OutsideLink href={`${site}/settings/personal-access-tokens/new`} text="a new fine-grained token" />{' '}
        at GitHub. By hand: your picture → <B>Settings</B> → <B>Developer settings</B> →{' '}
        <B>Personal access tokens</B> → <B>Fine-grained tokens</B> → <B>Generate new token</B>.
      </li>
      <li>
        <B>Token name</B>: any. <B>Resource owner</B>: the organization or account that has the repositories.{' '}
        <B>Expiration</B>: note the day, a new token is due then.
      </li>
      <li>
        <B>Repository access</B>: <B>Only select repositories</B>, and choose them.
      </li>
      <li>
        <B>Permissions</B> → <B>Repositories</B>: add these.
        <Permissions without="Checks" />
        Fine-grained tokens cannot read check runs of private repositories. A classic token with the scope{' '}
        <B>repo</B> can, and so can an App.
      </li>
      <li>
        <B>Generate token</B>, and copy it: GitHub shows it once. What Headrace does is then done in your
        name.
      </li>
    </Steps>
  );
}

function HowToApp({ site }: { site: string }) {
  return (
    <Steps>
      <li>
        Open <OutsideLink href={`${site}/settings/apps/new`} text="a new GitHub App" /> of your account. For
        an organization: its <B>Settings</B> → <B>Developer settings</B> → <B>GitHub Apps</B> →{' '}
        <B>New GitHub App</B>.
      </li>
      <li>
        <B>GitHub App name</B>: any; commits carry it as{' '}
        <code className="font-mono text-mono">name[bot]</code>. <B>Homepage URL</B>: any. <B>Webhook</B>:
        clear <B>Active</B> for now, it is set after connecting.
      </li>
      <li>
        <B>Repository permissions</B>: set these.
        <Permissions />
        To push workflow files, also <B>Workflows</B>: {WRITE}.
      </li>
      <li>
        <B>Where can this GitHub App be installed?</B> Only on this account. Press <B>Create GitHub App</B>.
      </li>
      <li>
        On the page that follows, copy the <B>App ID</B> from the top. Below, under <B>Private keys</B>, press{' '}
        <B>Generate a private key</B>: the browser saves a .pem file.
      </li>
      <li>
        In the left menu press <B>Install App</B> → <B>Install</B>, and choose the repositories. The address
        of the page that follows ends in the installation’s id.
      </li>
    </Steps>
  );
}

const Permissions = ({ without }: { without?: string }) => (
  <table aria-label="Permissions" className="my-1.5 w-full max-w-[560px] border-collapse text-left">
    <thead className="sr-only">
      <tr>
        <th scope="col">Permission</th>
        <th scope="col">Access</th>
        <th scope="col">For</th>
      </tr>
    </thead>
    <tbody>
      {PERMISSIONS.filter(([name]) => name !== without).map(([name, access, why]) => (
        <tr key={name} className="border-b border-line align-top">
          <th scope="row" className="py-0.5 pr-3 font-bold text-ink">
            {name}
          </th>
          <td className="py-0.5 pr-3 whitespace-nowrap text-ink">{access}</td>
          <td className="py-0.5 text-ink-3 max-sm:hidden">{why}</td>
        </tr>
      ))}
    </tbody>
  </table>
);
