/**
 * The files of an archive that may hold links. A hard link is a file with its target's content, or a
 * symbolic link where its target is one. Symbolic links are refused, left out, or followed as a file system
 * would: the archive is the whole file system, and its root is where it ends.
 */
import { checkPath } from '../../trees/paths.ts';
import type { Warning } from './bundle.ts';
import { MAX_FILES, shortened, shown, type BundleFaults } from './bundle-rules.ts';
import { LinkTree, TooManySteps, type ArchiveEntry, type ArchiveFile } from './link-tree.ts';

export const LINKS = ['refuse', 'skip', 'follow'] as const;
/** What becomes of symbolic links. */
export type Links = (typeof LINKS)[number];

export const MAX_WARNINGS = 1_000;

interface Archive {
  entries: ArchiveEntry[];
  /** Whether every entry was read: otherwise a target may follow. */
  isWhole: boolean;
}

/** The files in order of their entries, and what was left out; adds what is wrong with links to `faults`. */
export function filesOf(
  archive: Archive,
  links: Links,
  faults: BundleFaults,
): { files: ArchiveFile[]; warnings: Warning[] } {
  // Most archives hold no links.
  if (archive.entries.every((entry) => entry.kind === 'file'))
    return { files: archive.entries, warnings: [] };
  const entries = withoutHardLinks(archive, faults);
  const files = entries.filter((entry) => entry.kind === 'file');
  const symlinks = entries.filter((entry) => entry.kind === 'symlink');
  const warnings: Warning[] = [];
  const warn = (path: string, reason: string) => {
    if (warnings.length < MAX_WARNINGS) warnings.push({ path: shortened(path).toWellFormed(), reason });
  };
  if (symlinks.length === 0) return { files, warnings };
  if (links === 'follow') return { files: follow(entries, faults, warn), warnings };
  for (const link of symlinks)
    if (links === 'skip') warn(link.path, 'symbolic link');
    else
      faults.at(
        link,
        'path',
        `is a symbolic link to ${shown(link.target ?? '')}: leave links out with ?links=skip, or follow them with ?links=follow`,
      );
  return { files, warnings };
}

/** The entries with each hard link in the form of its target. */
function withoutHardLinks({ entries, isWhole }: Archive, faults: BundleFaults): ArchiveEntry[] {
  if (!entries.some((entry) => entry.kind === 'hardlink')) return entries;
  const byPath = new Map<string, ArchiveEntry>();
  for (const entry of entries)
    if (entry.kind !== 'folder' && !byPath.has(entry.path)) byPath.set(entry.path, entry);
  const ends = new Map<ArchiveEntry, ArchiveEntry | null>();
  return entries.flatMap((entry) => {
    if (entry.kind !== 'hardlink') return [entry];
    const end = endOf(entry, byPath, ends);
    if (end !== null) return [{ ...end, index: entry.index, path: entry.path, isUtf8: entry.isUtf8 }];
    if (isWhole)
      faults.at(
        entry,
        'path',
        `is a hard link to ${shown(entry.target ?? '')}, which is no file of the archive`,
      );
    return [];
  });
}

/** What a hard link leads to over others, or null. `ends` has what is known of those before. */
function endOf(
  link: ArchiveEntry,
  byPath: ReadonlyMap<string, ArchiveEntry>,
  ends: Map<ArchiveEntry, ArchiveEntry | null>,
): ArchiveEntry | null {
  const passed: ArchiveEntry[] = [];
  let at: ArchiveEntry | null = link;
  while (at?.kind === 'hardlink') {
    if (ends.has(at)) at = ends.get(at)!;
    else {
      // Until its end is known, so that a ring ends here.
      ends.set(at, null);
      passed.push(at);
      at = byPath.get(at.target?.replace(/^\.\//, '') ?? '') ?? null;
    }
  }
  for (const one of passed) ends.set(one, at);
  return at;
}

/** All files, with the copies that links become. */
function follow(
  entries: readonly ArchiveEntry[],
  faults: BundleFaults,
  warn: (path: string, reason: string) => void,
): ArchiveFile[] {
  const files: ArchiveFile[] = entries.filter((entry) => entry.kind === 'file');
  const tree = new LinkTree(entries.filter(isNamedWell));
  try {
    for (const link of entries.filter((entry) => entry.kind === 'symlink')) {
      const rule = link.isUtf8 ? checkPath(link.path) : 'must be UTF-8';
      const found = rule ?? tree.follow(link);
      if (rule !== null) faults.at(link, 'path', rule);
      else if (typeof found === 'string') warn(link.path, found);
      else if (!tree.has(link)) faults.at(link, 'path', 'is the path of another file or folder');
      else files.push(...tree.copiesOf(link, found, warn));
      // Further copies change nothing: there are too many.
      if (files.length > MAX_FILES) break;
    }
  } catch (error) {
    if (!(error instanceof TooManySteps)) throw error;
    faults.all('The links of the archive lead to each other too often to be followed.');
  }
  return files.sort((a, b) => a.index - b.index);
}

const isNamedWell = ({ kind, path, isUtf8 }: ArchiveEntry) =>
  isUtf8 && checkPath(kind === 'folder' ? path.replace(/\/$/, '') : path) === null;
