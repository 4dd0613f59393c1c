/**
 * Which service, with which credential, and which app: option, environment, `.headrace.json`, context, in this order.
 * A credential is only ever sent to the address that it was given for: a cloned folder's `.headrace.json` may name any
 * address.
 */
import { EXIT } from '../core/exit.ts';
import { Fault, usage } from '../core/fault.ts';
import type { Io } from '../core/io.ts';
import { contextNamed, readContexts } from './contexts.ts';
import type { Context, Contexts } from './contexts.ts';
import { findLink } from './link.ts';

export type Credential = { key: string } | { session: { cookie: string; email: string } };
export interface Target {
  url: string;
  /** What named the address, for messages. */
  urlFrom: string;
  /** Null: not signed in at this address. */
  credential: Credential | null;
  /** Where the credential is from: a context's name, or `HEADRACE_KEY`. */
  from: string | null;
  app: string | undefined;
  /** What named the app, for messages. */
  appFrom: string | undefined;
}
interface Given {
  url?: string | undefined;
  context?: string | undefined;
  app?: string | undefined;
}

export const DEFAULT_URL = 'http://127.0.0.1:4400';

export function targetOf(io: Io, given: Given): Target {
  const { env } = io;
  const linked = findLink(io.cwd);
  const contexts = readContexts(io);
  const named = namedContext(contexts, given.context ?? (env.HEADRACE_CONTEXT || undefined));
  const current = currentOf(contexts);
  const explicit = given.url ?? (given.context === undefined ? env.HEADRACE_URL || undefined : undefined);
  const [address, urlFrom] = firstOf(
    [explicit, given.url === undefined ? 'HEADRACE_URL' : '--url'],
    [named?.context.url, named && `context ${named.name}`],
    [linked?.link.url, linked?.path],
    [current?.context.url, current && `context ${current.name}`],
    [DEFAULT_URL, 'the default'],
  );
  const url = normalized(address!);
  const used = named && sameService(named.context.url, url) ? named : contextFor(contexts, url);
  const fromEnv = env.HEADRACE_KEY && isForKey(url, explicit, contexts) ? env.HEADRACE_KEY : undefined;
  const linkedApp =
    linked && (!linked.link.url || sameService(linked.link.url, url)) ? linked.link.app : undefined;
  const [app, appFrom] = firstOf(
    [given.app, '--app'],
    [env.HEADRACE_APP || undefined, 'HEADRACE_APP'],
    [linkedApp, linked?.path],
    [used?.context.app, used && `context ${used.name}`],
  );
  const place = { url, urlFrom: urlFrom!, app, appFrom };
  if (fromEnv !== undefined && given.context === undefined)
    return { ...place, credential: { key: fromEnv }, from: 'HEADRACE_KEY' };
  return { ...place, credential: credentialOf(used?.context), from: used?.name ?? null };
}

/** HEADRACE_KEY belongs to the address that the user gives with it, else to the current context's or the default one. */
const isForKey = (url: string, explicit: string | undefined, contexts: Contexts): boolean =>
  explicit !== undefined || sameService(currentOf(contexts)?.context.url ?? DEFAULT_URL, url);

const credentialOf = (context: Context | undefined): Target['credential'] =>
  context?.key ? { key: context.key } : context?.session ? { session: context.session } : null;

/** Throws the Fault for an address that is none. */
export function normalized(url: string): string {
  const text = /^https?:\/\//.test(url) ? url : `https://${url}`;
  if (!URL.canParse(text))
    throw usage(`${JSON.stringify(url)} is no address. An address is, for example, ${DEFAULT_URL}.`);
  const { origin, pathname } = new URL(text);
  return origin + pathname.replace(/\/+$/, '');
}

const sameService = (a: string, b: string) => normalized(a) === normalized(b);

function namedContext(contexts: Contexts, name: string | undefined) {
  if (name === undefined) return undefined;
  const context = contextNamed(contexts, name);
  if (!context)
    throw new Fault(EXIT.denied, `There is no context ${JSON.stringify(name)}.`, {
      hint: 'headrace context list',
    });
  return { name, context };
}

export function currentOf(contexts: Contexts): { name: string; context: Context } | undefined {
  const { current } = contexts;
  const context = current === null ? undefined : contextNamed(contexts, current);
  return context && { name: current!, context };
}

/** The current context if it is for the address, else any other one that is. */
function contextFor(contexts: Contexts, url: string) {
  const current = currentOf(contexts);
  if (current && sameService(current.context.url, url)) return current;
  const [name, context] =
    Object.entries(contexts.contexts).find(([, one]) => sameService(one.url, url)) ?? [];
  return name === undefined ? undefined : { name, context: context! };
}

function firstOf(
  ...pairs: [string | undefined, string | undefined][]
): [string | undefined, string | undefined] {
  return pairs.find(([value]) => value !== undefined) ?? [undefined, undefined];
}
