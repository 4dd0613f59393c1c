/** Sign-ins by name: an address with the key or session that counts there. */
import { join } from 'node:path';
import type { Io } from '../core/io.ts';
import { configFolder, readJsonFile, writePrivateJson } from './files.ts';

export interface Context {
  url: string;
  /** A service key. */
  key?: string;
  /** A signed-in user: the value of the session cookie. */
  session?: { cookie: string; email: string };
  /** The app of commands that name none. */
  app?: string;
}
export interface Contexts {
  current: string | null;
  contexts: Record<string, Context>;
}

export const contextsPath = (io: Io): string => join(configFolder(io), 'contexts.json');

export const readContexts = (io: Io): Contexts =>
  readJsonFile<Contexts>(contextsPath(io)) ?? { current: null, contexts: {} };

export const writeContexts = (io: Io, contexts: Contexts): void =>
  writePrivateJson(contextsPath(io), contexts);
