/** `headrace console`: a page of the console in the browser. */
import { HeadraceError } from '@headrace/client';
import type { Cli } from '../core/cli.ts';
import { EXIT } from '../core/exit.ts';
import { Fault, usage } from '../core/fault.ts';
import { openInBrowser } from '../terminal/browser.ts';
import { oneLine } from '../terminal/escape.ts';

/** A page is small, or the service is away. */
const LIMIT_MS = 10_000;
const PAGE = 200;
/** A beginning of an id is looked up among so many. */
const LOOKED_AT = 2_000;
const LEAST_OF_ID = 8;

export async function openConsole(
  cli: Cli,
  what: string | undefined,
  { print }: { print: boolean },
): Promise<void> {
  const path = what === undefined ? '' : await pathOf(cli, what);
  const { url: address, urlFrom } = what === undefined ? addressOf(cli) : cli.target;
  const root = `${address}/console/`;
  await requireConsole(cli, root, urlFrom);
  const url = root + path;
  cli.show({ url }, () => url);
  if (print || !cli.isTerminal || !hasDisplay(cli.io.env)) return;
  if (!(await openInBrowser(cli.io, url)))
    cli.say(`No browser could be started. Open the address yourself: ${oneLine(url)}`);
}

/** That of the sign-in. Where nothing names a service, this may be its host: then the one that it is configured with. */
function addressOf({ io: { env }, target }: Cli): { url: string; urlFrom: string } {
  if (target.urlFrom !== 'the default') return target;
  if (env.HEADRACE_PUBLIC_URL)
    return { url: env.HEADRACE_PUBLIC_URL.replace(/\/+$/, ''), urlFrom: 'HEADRACE_PUBLIC_URL' };
  if (env.HEADRACE_PORT) return { url: `http://127.0.0.1:${env.HEADRACE_PORT}`, urlFrom: 'HEADRACE_PORT' };
  return target;
}

/** On others than Linux there always is one. Without it, xdg-open would start a browser for terminals out of sight. */
const hasDisplay = ({ BROWSER, DISPLAY, WAYLAND_DISPLAY, WSL_DISTRO_NAME }: Cli['io']['env']): boolean =>
  process.platform !== 'linux' || !!(BROWSER || DISPLAY || WAYLAND_DISPLAY || WSL_DISTRO_NAME);

/** Throws the Fault of a service that shows no console. */
async function requireConsole(cli: Cli, address: string, from: string): Promise<void> {
  const signal = AbortSignal.any([cli.signal, AbortSignal.timeout(LIMIT_MS)]);
  const ask = cli.io.fetch ?? fetch;
  const answer = await ask(address, { headers: { accept: 'application/json' }, signal }).catch(
    (error: unknown) => {
      cli.signal.throwIfAborted();
      throw new Fault(EXIT.unreachable, `${address} did not answer: ${reasonOf(error)}`, {
        hint: `Is the service running, and is the address right? It is from ${from}.`,
      });
    },
  );
  if (answer.ok) return void answer.body?.cancel();
  const said = (await answer.json().catch(() => null)) as { error?: { message?: unknown } } | null;
  if (answer.status === 404)
    throw new Fault(EXIT.notFound, `There is no console at ${address}`, {
      hint: 'HEADRACE_CONSOLE=0 switches it off: start the service without it.',
      code: 'console_off',
    });
  const reason = typeof said?.error?.message === 'string' ? said.error.message : `status ${answer.status}`;
  throw new Fault(EXIT.unreachable, `${address} shows no console: ${reason}`, {
    code: 'console_unavailable',
  });
}

const reasonOf = (error: unknown): string => {
  const { message, cause } = error as Error;
  return cause instanceof Error ? cause.message : message;
};

/** Below `/console/`. An id says what it is of; names are those of threads and apps. */
async function pathOf(cli: Cli, text: string): Promise<string> {
  const [, prefix] = /^([a-z]+)_/.exec(text) ?? [];
  if (prefix === 'prj') return ofApp(cli, await cli.appNamed(text));
  const part = isPrefix(prefix) ? PARTS[prefix] : null;
  if (part !== null) return (await inKnownApp(cli, text, part)) ?? inLists(cli, text, part);
  if (prefix === 'src') return ofSource(cli, text);
  const page =
    prefix !== undefined && Object.hasOwn(PAGES, prefix) ? PAGES[prefix as keyof typeof PAGES] : null;
  if (page !== null) return ofPage(cli, text, page);
  if (text === '@last' || text.startsWith('~')) return named(cli, text);
  throw usage(
    `${JSON.stringify(text)} is no page: give the id of an app, project, thread, apply, build, preview, source, task, automation, operation, repository, connection, webhook or service account, ~NAME or @last.`,
    'headrace console --help',
  );
}

/** The home of the app or the Direct project, if there is such a one. */
async function ofApp(cli: Cli, appId: string): Promise<string> {
  await cli.client.projects.get(appId, { signal: cli.signal });
  return `apps/${appId}`;
}

/** What is in no app: where its page is, and what reads it. */
const PAGES = {
  task: ['tasks', ({ client }: Cli) => client.tasks.get],
  aut: ['automations', ({ client }: Cli) => client.automations.get],
  op: ['operations', ({ client }: Cli) => client.operations.get],
  wh: ['organization/webhooks', ({ client }: Cli) => client.webhooks.get],
  repo: ['organization/repositories', ({ client }: Cli) => client.scm.getRepository],
  ins: ['organization/installations', ({ client }: Cli) => client.scm.getInstallation],
  sa: ['organization/keys', ({ client }: Cli) => client.accounts.get],
} as const;

/** By the whole id only. */
async function ofPage(
  cli: Cli,
  id: string,
  [path, reader]: (typeof PAGES)[keyof typeof PAGES],
): Promise<string> {
  await reader(cli)(id, { signal: cli.signal });
  return `${path}/${id}`;
}

const PARTS = { thr: 'threads', apl: 'applies', bld: 'builds', prv: 'previews' } as const;
type Part = (typeof PARTS)[keyof typeof PARTS];

const isPrefix = (text = ''): text is keyof typeof PARTS => Object.hasOwn(PARTS, text);
const isWhole = (id: string): boolean => /_[0-9a-z]{26}$/.test(id);

/** Where the command's app has it, one read is enough. */
async function inKnownApp(cli: Cli, id: string, part: Part): Promise<string | null> {
  if (cli.target.app === undefined || !isWhole(id)) return null;
  const appId = await cli.appId();
  try {
    await cli.client[part].get(appId, id, { signal: cli.signal });
    return `apps/${appId}/${part}/${id}`;
  } catch (error) {
    if (error instanceof HeadraceError && error.status === 404) return null;
    throw error;
  }
}

/** Of any app: a list over all of them says whose it is. */
async function inLists(cli: Cli, start: string, part: Part): Promise<string> {
  if (start.length - start.indexOf('_') - 1 < LEAST_OF_ID)
    throw usage(`${JSON.stringify(start)} is too short: give at least ${LEAST_OF_ID} characters of the id.`);
  const found: { id: string; projectId: string }[] = [];
  let seen = 0;
  const { client, signal } = cli;
  const options = { limit: PAGE, signal };
  // Only threads have a list with those of Direct projects.
  const list = part === 'threads' ? client.threads.listDirect(options) : client[part].listAll(options);
  for await (const one of list) {
    if (one.id.startsWith(start)) found.push(one);
    if (one.id === start || (++seen === LOOKED_AT && !isWhole(start))) break;
  }
  const [one, other] = found;
  if (!one) throw new Fault(EXIT.notFound, `The ${part} of your apps do not have ${start}.`);
  if (other) throw usage(`Several ${part} begin with ${start}.`, 'Give the whole id of one.');
  return `apps/${one.projectId}/${part}/${one.id}`;
}

/** No list has the sources of all apps. */
async function ofSource(cli: Cli, text: string): Promise<string> {
  const { sourceNamed } = await import('../core/sources.ts');
  const appId = await cli.appId();
  const sourceId = await sourceNamed(cli, text, appId);
  await cli.client.sources.get(appId, sourceId, { signal: cli.signal });
  return `apps/${appId}/sources/${sourceId}`;
}

/** A thread of the command's app, or else an app. */
async function named(cli: Cli, text: string): Promise<string> {
  if (cli.target.app !== undefined) {
    const appId = await cli.appId();
    const threadId = await cli.threadNamed(text, appId).catch((error: unknown) => {
      if (error instanceof Fault && error.exit === EXIT.notFound) return null;
      throw error;
    });
    if (threadId !== null) return `apps/${appId}/threads/${threadId}`;
  }
  return ofApp(cli, await cli.appNamed(text));
}
