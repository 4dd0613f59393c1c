/** `headrace login` and `logout`: keys and sessions, which are stored only after the service has accepted them. */
import { contextNamed, contextsPath, readContexts, writeContexts } from '../config/contexts.ts';
import type { Context, Contexts } from '../config/contexts.ts';
import { findLink } from '../config/link.ts';
import { normalized, targetOf } from '../config/target.ts';
import type { Credential } from '../config/target.ts';
import type { Cli } from '../core/cli.ts';
import { EXIT } from '../core/exit.ts';
import type { Exit } from '../core/exit.ts';
import { Fault, usage } from '../core/fault.ts';
import { readSecret, readText } from '../core/input.ts';
import { endSession, forget, requireContextName } from './contexts.ts';
import { isServiceKey } from './service-key.ts';
import { identify, identityDetails } from './whoami.ts';

const LIMIT_MS = 10_000;

export interface LoginOptions {
  key: boolean;
  email: string | undefined;
  'password-stdin': boolean;
  name: string | undefined;
}

export async function login(cli: Cli, given: string | undefined, options: LoginOptions): Promise<void> {
  requireSense(given, options);
  const url = addressOf(cli, given);
  const contexts = readContexts(cli.io);
  const name = freeName(contexts, url, options.name);
  const credential = options.email === undefined ? await keyOf(cli) : await signIn(cli, url, options);
  const identity = await identify(cli, cli.clientFor(url, credential), credential);
  const { app } = contextNamed(contexts, name) ?? {};
  const context: Context = { url, ...credential, ...(app !== undefined && { app }) };
  try {
    writeContexts(cli.io, { current: name, contexts: { ...contexts.contexts, [name]: context } });
  } catch (error) {
    await endSession(cli, context);
    throw new Fault(EXIT.failed, `The sign-in cannot be stored: ${(error as Error).message}`, {
      hint: `Can ${contextsPath(cli.io)} be written? XDG_CONFIG_HOME names another folder.`,
    });
  }
  cli.show({ url, context: name, ...identity }, () =>
    cli.details([['Signed in at', url], ['Context', name], ...identityDetails(identity)]),
  );
  if (cli.io.env.HEADRACE_KEY) cli.say('HEADRACE_KEY is set, too. It wins over the key that is stored now.');
}

function requireSense(given: string | undefined, options: LoginOptions): void {
  if (given?.includes('hrk_'))
    throw usage(
      'A key does not belong in a command line: others can read it there.',
      'headrace login < KEY_FILE',
    );
  if (options.email !== undefined && options.key) throw usage('--key and --email exclude each other.');
  if (options.email === undefined && options['password-stdin'])
    throw usage('--password-stdin needs --email ADDRESS.');
}

/** A folder's link may name any address, so that a key for it would go to whom the folder's author likes. */
function addressOf(cli: Cli, given: string | undefined): string {
  if (given !== undefined) return normalized(given);
  const { url, urlFrom, from } = targetOf(cli.io, cli.globals);
  if (from === null && findLink(cli.io.cwd)?.path === urlFrom)
    throw usage(
      `${urlFrom} names an address where you have never signed in: ${url}.`,
      `headrace login ${url}`,
    );
  return url;
}

function freeName(contexts: Contexts, url: string, given: string | undefined): string {
  const name = given ?? new URL(url).host;
  requireContextName(name);
  const taken = contextNamed(contexts, name)?.url;
  if (taken !== undefined && normalized(taken) !== url)
    throw usage(`The context ${JSON.stringify(name)} is for ${taken}.`, `headrace login ${url} --name OTHER`);
  return name;
}

async function keyOf(cli: Cli): Promise<Credential> {
  const key = await readSecret(cli, 'service key');
  if (isServiceKey(key)) return { key };
  throw usage(
    'This is no service key: a key begins with hrk_, and its last characters fit the others.',
    'Copy the whole key. Owners and admins make one: headrace keys create',
  );
}

async function signIn(cli: Cli, url: string, options: LoginOptions): Promise<Credential> {
  const email = options.email!;
  const password = options['password-stdin']
    ? (await readText(cli, '-')).replace(/\r?\n$/, '')
    : await cli.secret(`Password of ${email}:`, '--password-stdin');
  if (password === '') throw usage('The password is missing: give it on stdin, with --password-stdin.');
  const answer = await cli
    .clientFor(url, { session: null })
    .session.signIn({ email, password }, { signal: cli.signal, timeoutMs: LIMIT_MS })
    .asResponse();
  await answer.body?.cancel();
  const cookie = answer.headers.getSetCookie().map((one) => one.split(';')[0]!);
  if (cookie.length === 0)
    throw new Fault(EXIT.unreachable, `${url} answered without a session: is this the address of Headrace?`);
  return { session: { cookie: cookie.join('; '), email } };
}

export async function logout(cli: Cli, isAll: boolean): Promise<Exit> {
  const contexts = readContexts(cli.io);
  return forget(cli, contexts, isAll ? Object.keys(contexts.contexts) : [contextOf(cli)]);
}

function contextOf(cli: Cli): string {
  const { from } = cli.target;
  if (from === null) throw cli.notSignedIn();
  if (from === 'HEADRACE_KEY')
    throw usage('HEADRACE_KEY signs you in: unset it, or name a context.', 'headrace logout --context NAME');
  return from;
}
