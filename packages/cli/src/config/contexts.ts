/** Sign-ins by name: an address with the key or session that counts there. */
import { chmodSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Io } from '../core/io.ts';
import { configFolder, isRecord, readJsonFile, writePrivateJson } from './files.ts';

export interface Context {
  url: string;
  /** A service key. */
  key?: string;
  /** A signed-in user: the `cookie` header of the session. */
  session?: { cookie: string; email: string };
  /** The app of commands that name none. */
  app?: string;
}
export interface Contexts {
  current: string | null;
  contexts: Record<string, Context>;
}

export const contextsPath = (io: Io): string => join(configFolder(io), 'contexts.json');

/** Throws for a file that is damaged. One that others can read is made private, and stderr says so. */
export function readContexts(io: Io): Contexts {
  const path = contextsPath(io);
  const stored = readJsonFile(path);
  if (stored === undefined) return { current: null, contexts: {} };
  makePrivate(path, io);
  if (!isRecord(stored) || !isRecord(stored.contexts) || !Object.values(stored.contexts).every(isContext))
    throw new Error(`${path} is damaged. Remove it, and sign in again: headrace login.`);
  const { current } = stored;
  return {
    current: typeof current === 'string' ? current : null,
    contexts: stored.contexts as Contexts['contexts'],
  };
}

export const writeContexts = (io: Io, contexts: Contexts): void =>
  writePrivateJson(contextsPath(io), contexts);

/** Names are input: `constructor` is no context unless one was made. */
export const contextNamed = ({ contexts }: Contexts, name: string): Context | undefined =>
  Object.hasOwn(contexts, name) ? contexts[name] : undefined;

function isContext(value: unknown): value is Context {
  if (!isRecord(value) || typeof value.url !== 'string' || !URL.canParse(value.url)) return false;
  const { key, session, app } = value;
  return (
    ['string', 'undefined'].includes(typeof key) &&
    ['string', 'undefined'].includes(typeof app) &&
    (session === undefined ||
      (isRecord(session) && typeof session.cookie === 'string' && typeof session.email === 'string'))
  );
}

/** Windows has no such modes. */
function makePrivate(path: string, io: Io): void {
  const mode = statSync(path).mode & 0o777;
  if (process.platform === 'win32' || (mode & 0o077) === 0) return;
  const said = `${path} holds keys, and other users could read it (mode ${mode.toString(8)})`;
  try {
    chmodSync(path, 0o600);
    io.stderr.write(`headrace: ${said}. It is 600 now; rotate the keys if others may have seen them.\n`);
  } catch {
    io.stderr.write(`headrace: ${said}. Make it yours alone: chmod 600.\n`);
  }
}
