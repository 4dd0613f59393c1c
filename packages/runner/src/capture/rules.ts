import type { CaptureResult } from '../protocol.ts';
import { isWithinReach, removableBytes, type Listed } from '../workspaces/listing.ts';

/** Folders that tools fill: new files in them are not part of a source. */
export const DEPENDENCY_FOLDERS = new Set([
  'node_modules',
  '.venv',
  'venv',
  '__pycache__',
  '.pnpm-store',
  'bower_components',
]);
/** Never part of a source, in any letter case, as a folder or a file. */
export const RESERVED = new Set(['.git', '.context', '.hoplite']);
const WARNINGS = 1000;
/** Most paths contain no such name: one test saves the walk over their segments. */
export const SPECIAL = new RegExp(
  `(?:^|/)(?:${[...DEPENDENCY_FOLDERS, ...RESERVED].map((name) => name.replace('.', '\\.')).join('|')})(?:/|$)`,
  'i',
);

export interface Choice {
  files: Listed[];
  strays: NonNullable<CaptureResult['strays']>;
  warnings: CaptureResult['warnings'];
}

/**
 * Decides which entries of a tree are its source (every regular file at a base path, and what is not ignored
 * outside dependency and reserved folders), which files would be but cannot be named (strays), and what to
 * report about the rest: one warning per file, or per whole left-out folder that holds no base path. Files
 * that .gitignore excludes are left out without a warning, and so are the `links` that came with the files.
 * A link that was changed, removed or made is a warning.
 */
export async function choose(
  entries: Listed[],
  {
    base,
    evidence,
    links,
  }: { base: ReadonlySet<string>; evidence: string[]; links: ReadonlyMap<string, string> },
  findIgnored: (entries: Listed[]) => Promise<Uint8Array>,
): Promise<Choice> {
  const files: Listed[] = [],
    strays: Choice['strays'] = [];
  const warnings = new Map<string, string>();
  const isEvidence = (path: string): boolean =>
    evidence.some((known) => known === path || known.startsWith(`${path}/`));
  const warn = ({ path, reason }: LeftOut): void => {
    if (warnings.size < WARNINGS && !isEvidence(path)) warnings.set(path, reason);
  };
  const inQuestion = candidates(entries, (path) => base.has(path) || links.has(path), base);
  const added = inQuestion.filter(({ isBase }) => !isBase);
  const ignored = await findIgnored(added.map(({ entry }) => entry));
  const dropped = new Set(added.filter((_, index) => ignored[index] === 1));
  for (const candidate of inQuestion) {
    if (dropped.has(candidate)) continue;
    const { entry, outside } = candidate;
    if (entry.target !== undefined && links.get(entry.path) === entry.target) continue;
    const stray = strayFault(entry);
    if (outside) warn(outside);
    else if (entry.kind !== 'file')
      warn({
        path: entry.path,
        reason: entry.kind === 'link' ? SYMLINK : 'not a regular file',
      });
    else if (stray) strays.push({ path: entry.path, fault: stray, bytes: removableBytes(entry) });
    else files.push(entry);
  }
  for (const path of removedLinks(links, entries)) warn({ path, reason: SYMLINK });
  return { files, strays, warnings: [...warnings].map(([path, reason]) => ({ path, reason })) };
}

const SYMLINK = 'symlink';

/** The links with nothing at their path any more. */
function removedLinks(links: ReadonlyMap<string, string>, entries: Listed[]): string[] {
  if (links.size === 0) return [];
  const present = new Set(entries.map(({ path }) => path));
  return [...links.keys()].filter((path) => !present.has(path));
}

interface LeftOut {
  path: string;
  reason: string;
}

interface Candidate {
  entry: Listed;
  isBase: boolean;
  /** Why it is left out, where .gitignore does not say so already. */
  outside: LeftOut | undefined;
}

/** What has to be decided on: all files, and the folders that are left out as a whole. */
function candidates(
  entries: Listed[],
  isKnown: (path: string) => boolean,
  base: ReadonlySet<string>,
): Candidate[] {
  const baseFolders = new Set([...base].filter((path) => SPECIAL.test(path)).flatMap(foldersAbove));
  return entries.flatMap((entry) => {
    const isBase = isOfBase(entry, isKnown);
    const outside = isBase ? undefined : leftOut(entry, baseFolders);
    // Nobody misses an empty left-out folder, but the contents of a pruned one are not listed: its warning
    // covers them.
    return entry.kind === 'folder' && outside?.path !== entry.path ? [] : { entry, isBase, outside };
  });
}

/** What looks like a path of the base with U+FFFD in it is another one. */
const isOfBase = ({ path, bytes }: Listed, isKnown: (path: string) => boolean): boolean =>
  bytes === undefined && isKnown(path);

/** The topmost left-out folder of a path that holds nothing of the base, or the path itself. */
function leftOut(entry: Listed, baseFolders: ReadonlySet<string>): LeftOut | undefined {
  if (!SPECIAL.test(entry.path)) return undefined;
  const segments = entry.path.split('/');
  let reason: string | undefined;
  for (let depth = 1; depth <= segments.length; depth++) {
    const name = segments[depth - 1]!;
    const isLast = depth === segments.length;
    if (RESERVED.has(name.toLowerCase())) reason = 'reserved name';
    else if (DEPENDENCY_FOLDERS.has(name) && (!isLast || entry.kind === 'folder'))
      reason ??= 'new file in a dependency folder';
    if (reason === undefined) continue;
    const path = segments.slice(0, depth).join('/');
    if (!baseFolders.has(path) || (isLast && entry.kind !== 'folder')) return { path, reason };
  }
  return undefined;
}

/** Why a file's path cannot be given to anybody; in the words of the rules for sources. */
function strayFault(entry: Listed): string | undefined {
  if (entry.bytes !== undefined) return 'must be UTF-8';
  return isWithinReach(entry) ? undefined : 'must be shorter';
}

function foldersAbove(path: string): string[] {
  const segments = path.split('/');
  return segments.slice(1).map((_, i) => segments.slice(0, i + 1).join('/'));
}
