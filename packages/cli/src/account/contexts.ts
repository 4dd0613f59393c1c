/** `headrace context …`: the sign-ins of this user, by name. */
import { HeadraceError } from '@headrace/client';
import { contextNamed, readContexts, writeContexts } from '../config/contexts.ts';
import type { Context, Contexts } from '../config/contexts.ts';
import type { Cli } from '../core/cli.ts';
import { EXIT } from '../core/exit.ts';
import type { Exit } from '../core/exit.ts';
import { Fault, usage } from '../core/fault.ts';
import { credentialIdOf } from './service-key.ts';

/** It is typed after `--context`, and is a member of an object. */
export function requireContextName(name: string): void {
  if (!/^[a-z0-9[][\w.:[\]-]{0,99}$/i.test(name))
    throw usage(
      `${JSON.stringify(name)} is no name for a context: it has letters, digits and . : _ -, and begins with a letter or a digit.`,
    );
}

function required(contexts: Contexts, name: string): Context {
  const context = contextNamed(contexts, name);
  if (context) return context;
  throw new Fault(EXIT.notFound, `There is no context ${JSON.stringify(name)}.`, {
    hint: 'headrace context list',
  });
}

/** Without what is secret. */
function viewOf([name, { url, key, session, app }]: [string, Context], current: string | null) {
  const credentialId = key === undefined ? null : credentialIdOf(key);
  return {
    name,
    current: name === current,
    url,
    credentialId,
    email: session?.email ?? null,
    app: app ?? null,
  };
}

export function listContexts(cli: Cli): void {
  const { current, contexts } = readContexts(cli.io);
  const views = Object.entries(contexts).map((entry) => viewOf(entry, current));
  if (cli.globals.jsonl) return views.forEach((view) => cli.printLine(view));
  if (views.length === 0 && !cli.isJson) return cli.say('You are signed in nowhere. → headrace login URL');
  cli.show({ contexts: views }, () =>
    cli.table(views, [
      { header: '', value: (view) => (view.current ? '*' : ' '), color: () => 'green', whole: true },
      { header: 'NAME', value: ({ name }) => name, color: () => 'bold', whole: true },
      { header: 'ADDRESS', value: ({ url }) => url },
      { header: 'SIGNED IN BY', value: ({ email, credentialId }) => email ?? credentialId },
      { header: 'APP', value: ({ app }) => app },
    ]),
  );
}

export function useContext(cli: Cli, name: string): void {
  const contexts = readContexts(cli.io);
  const context = required(contexts, name);
  writeContexts(cli.io, { ...contexts, current: name });
  cli.show({ context: viewOf([name, context], name) }, () => `${name}  ${context.url}`);
  const { HEADRACE_URL, HEADRACE_CONTEXT } = cli.io.env;
  if (HEADRACE_URL || HEADRACE_CONTEXT)
    cli.say(
      `${HEADRACE_URL ? 'HEADRACE_URL' : 'HEADRACE_CONTEXT'} is set, and wins over the current context.`,
    );
}

export function renameContext(cli: Cli, from: string, to: string): void {
  const contexts = readContexts(cli.io);
  const context = required(contexts, from);
  requireContextName(to);
  if (contextNamed(contexts, to)) throw usage(`There is a context ${JSON.stringify(to)} already.`);
  const renamed = Object.entries(contexts.contexts).map(
    ([name, one]) => [name === from ? to : name, one] as const,
  );
  const current = contexts.current === from ? to : contexts.current;
  writeContexts(cli.io, { current, contexts: Object.fromEntries(renamed) });
  cli.show({ context: viewOf([to, context], current) }, () => `${to}  ${context.url}`);
}

export async function removeContext(cli: Cli, name: string): Promise<Exit> {
  const contexts = readContexts(cli.io);
  required(contexts, name);
  return forget(cli, contexts, [name]);
}

const LIMIT_MS = 10_000;

/** Removes sign-ins, and ends their sessions. A session that cannot be ended now is forgotten all the same. */
export async function forget(cli: Cli, contexts: Contexts, names: readonly string[]): Promise<Exit> {
  const open: string[] = [];
  for (const name of names) {
    const why = await endSession(cli, contexts.contexts[name]!);
    if (why !== null) open.push(`The session at ${contexts.contexts[name]!.url} may still be open: ${why}`);
  }
  const left = Object.entries(contexts.contexts).filter(([name]) => !names.includes(name));
  const current = contexts.current !== null && names.includes(contexts.current) ? null : contexts.current;
  writeContexts(cli.io, { current, contexts: Object.fromEntries(left) });
  cli.show({ contexts: names, endedSessions: open.length === 0 }, () =>
    names.length === 0 ? 'You were signed in nowhere.' : `Signed out: ${names.join(', ')}.`,
  );
  for (const one of open) cli.say(one);
  return open.length === 0 ? EXIT.done : EXIT.unreachable;
}

/** Why the session may still be open; null if it is not. */
export async function endSession(cli: Cli, { url, session }: Context): Promise<string | null> {
  if (!session) return null;
  try {
    await cli.clientFor(url, { session }).session.signOut({ signal: cli.signal, timeoutMs: LIMIT_MS });
  } catch (error) {
    if (!(error instanceof HeadraceError)) throw error;
    if (error.status !== 401) return error.message;
  }
  return null;
}
