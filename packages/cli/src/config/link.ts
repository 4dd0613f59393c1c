/** `.headrace.json`: the service and the app that a folder belongs to. It holds no secret, and can be committed. */
import { existsSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { usage } from '../core/fault.ts';
import { isRecord, readJsonFile } from './files.ts';

export interface Link {
  url?: string;
  app?: string;
}
export const LINK_FILE = '.headrace.json';

/** Of the folder, or of the nearest one above it. */
export function findLink(folder: string): { path: string; link: Link } | undefined {
  for (let at = folder; ; at = dirname(at)) {
    const path = join(at, LINK_FILE);
    if (existsSync(path)) return { path, link: readLink(path) };
    if (dirname(at) === at) return undefined;
  }
}

function readLink(path: string): Link {
  const stored = readJsonFile(path);
  if (
    !isRecord(stored) ||
    ![stored.url, stored.app].every((one) => ['string', 'undefined'].includes(typeof one))
  )
    throw usage(`${path} is no link: it is { "url": "…", "app": "…" }.`, 'Correct it, or remove it.');
  return stored;
}

export function writeLink(folder: string, link: Link): string {
  const path = join(folder, LINK_FILE);
  writeFileSync(path, `${JSON.stringify(link, null, 2)}\n`);
  return path;
}
