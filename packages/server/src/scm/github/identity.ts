/** As whom a credential acts. */
import type { Provider } from '../provider.ts';
import { ProviderError } from '../provider.ts';
import { ask } from './ask.ts';
import type { Connection } from './connection.ts';
import { faultOf } from './faults.ts';
import { plainText } from './repositories.ts';

interface Identity {
  /** `name[bot]` for an App. */
  login: string;
  id: number;
}

const known = new WeakMap<Connection, Promise<Identity>>();

export function identityOf(connection: Connection): Promise<Identity> {
  const found = known.get(connection) ?? readIdentity(connection);
  known.set(connection, found);
  found.catch(() => known.delete(connection));
  return found;
}

async function readIdentity({ octokit, tokens }: Connection): Promise<Identity> {
  if (!tokens.isOfApp) {
    const { data } = await octokit.rest.users.getAuthenticated();
    return { login: plainText(data.login), id: data.id };
  }
  const slug = await appSlug(octokit);
  const { data } = await octokit.rest.users.getByUsername({ username: `${slug}[bot]` });
  return { login: plainText(data.login), id: data.id };
}

async function appSlug(octokit: Connection['octokit']): Promise<string> {
  const { data } = await octokit.rest.apps.getAuthenticated({ request: { isApp: true } });
  const slug = String(data?.slug);
  if (!/^[a-z0-9-]{1,100}$/i.test(slug))
    throw new ProviderError({ code: 'unavailable' }, 'an App without name');
  return slug;
}

/** A token: whose it is. An App: where it is installed. */
export const verify: Provider['verify'] = (at) =>
  ask(at, async (connection) => {
    const { octokit, tokens } = connection;
    if (!tokens.isOfApp) return { accountLogin: (await identityOf(connection)).login };
    try {
      await tokens.get();
      const installation = await octokit.rest.apps.getInstallation({
        installation_id: tokens.installationId,
        request: { isApp: true },
      });
      const account = installation.data.account as { login?: string; slug?: string } | null;
      return { accountLogin: plainText(account?.login ?? account?.slug) || null };
    } catch (error) {
      // An unknown App or installation, and a key that is none, are refused credentials.
      if (isUnusable(error) || faultOf(error).fault.code === 'not_found')
        throw new ProviderError({ code: 'access_denied' }, 'the App, its installation or its key is refused');
      throw error;
    }
  });

/** What the signing of a token throws where the private key is none. */
const isUnusable = (error: unknown): boolean =>
  !(error instanceof ProviderError) &&
  error instanceof Error &&
  typeof (error as { status?: unknown }).status !== 'number';

/** https://docs.github.com/en/apps/creating-github-apps: how GitHub links a commit to an App's bot. */
export const commitAuthor: Provider['commitAuthor'] = (at) =>
  ask(at, async (connection) => {
    if (!connection.tokens.isOfApp) return null;
    const { login, id } = await identityOf(connection);
    const host = new URL(connection.site).hostname;
    return { name: login, email: `${id}+${login}@users.noreply.${host}` };
  });
