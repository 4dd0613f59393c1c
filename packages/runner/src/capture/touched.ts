import { LAYER, LayerView, type LayerSight } from '../layers/layer-view.ts';
import type { Bind } from '../sandbox/driver.ts';
import type { Overlay } from '../workspaces/overlay.ts';
import { LAYER_LISTING_BYTES } from '../protocol.ts';
import type { ByteReader } from '../workspaces/byte-reader.ts';
import {
  END_LISTING,
  FIND_FORMAT_MANY,
  isWithinReach,
  parseListing,
  type Listed,
} from '../workspaces/listing.ts';
import type { SourceListing } from '../workspaces/source-listing.ts';

/**
 * All entries of a tree. `known`: the files of the source tree that were never written, with their entries
 * there.
 */
export interface Seen {
  entries: Listed[];
  known: Map<Listed, Listed>;
  /** What is known of the tree's layer. */
  layer?: LayerSight | undefined;
}

const UPPER = '/upper';
const LISTING_BYTES = 64 * 1024 ** 2;

/** The upper layer for a sandbox that lists it. No sandbox may write the tree meanwhile. */
export const upperBind = ({ upper }: Overlay): Bind => ({ host: upper, inside: UPPER, readOnly: true });

/**
 * A command that prints what lies in the upper layer (kind and path), then what those folders hold in the
 * merged view, and in the layer of a setup where there is one. `pruned`: tests of find for folders that are not walked. The upper layer has everything that
 * sandboxes wrote, moved or removed, and all folders above it: a folder that is missing there holds what the
 * source tree holds.
 */
export function touchedCommand(pruned: string, hasLayer: boolean): string {
  const touched = '/tmp/touched';
  const listUpper = `find . \\( -type d \\( ${pruned} \\) -prune \\) -o \\( -printf '%y %P\\0' -type d -fprint0 ${touched} \\)`;
  const listOne = `exec find "$@" -mindepth 1 -maxdepth 1 -printf "${FIND_FORMAT_MANY}"`;
  const listTouched = `xargs -0 -r sh -c '${listOne}' sh < ${touched}`;
  return [
    `(cd ${UPPER} && ${listUpper})`,
    END_LISTING,
    listTouched,
    END_LISTING,
    ...(hasLayer ? [`(cd ${LAYER} && ${listTouched})`, END_LISTING] : []),
  ].join('; ');
}

/**
 * The whole tree, from the output of `touchedCommand` and the listing of its source tree. A folder or file
 * counts as the source's only when it is not in the upper layer and matches an entry there in inode, change
 * time, mode and size; so a renamed folder is recognized too. What the layer has at its path is added, but not what its
 * untouched folders hold. Undefined when anything unexpected turns up: then the whole tree has to be listed.
 */
export async function seeTouched(
  reader: ByteReader,
  source: SourceListing,
  { isPruned, hasLayer }: { isPruned: (name: string) => boolean; hasLayer: boolean },
): Promise<Seen | undefined> {
  const maxBytes = LISTING_BYTES + (hasLayer ? LAYER_LISTING_BYTES : 0);
  const upper = upperEntries(await reader.records(maxBytes));
  const listed = parseListing(await reader.records(maxBytes));
  const layer = hasLayer ? new LayerView(parseListing(await reader.records(LISTING_BYTES))) : undefined;
  const isOfLayer = (entry: Listed): boolean => layer?.isUntouched(entry) === true;
  // Names that are not UTF-8 could be mistaken for one another; what lies beyond reach was not listed.
  const isOdd = (entry: Listed): boolean => entry.bytes !== undefined || !isWithinReach(entry);
  if (!upper || listed.some((entry) => isOdd(entry) && !isOfLayer(entry))) return undefined;
  const entries: Listed[] = [];
  const known = new Map<Listed, Listed>();
  const sourceFolders = new SourceFolders(source, isPruned, { entries, known });
  for (const entry of listed) {
    entries.push(entry);
    if (upper.has(entry.path) || (entry.kind === 'folder' && isPruned(nameOf(entry.path)))) continue;
    const same = source.same(entry);
    if (!same && isOfLayer(entry)) continue;
    if (!same) return undefined;
    if (entry.kind === 'folder') sourceFolders.expand(same.path, entry.path);
    else known.set(entry, same);
  }
  return { entries, known, layer };
}

/** Adds what untouched folders hold: the entries of the source tree, at their present paths. */
class SourceFolders {
  readonly #source: SourceListing;
  readonly #isPruned: (name: string) => boolean;
  readonly #seen: Seen;

  constructor(source: SourceListing, isPruned: (name: string) => boolean, seen: Seen) {
    this.#source = source;
    this.#isPruned = isPruned;
    this.#seen = seen;
  }

  /** Adds everything below a folder of the source tree, which is at `path` now. */
  expand(folder: string, path: string): void {
    for (const child of this.#source.childrenOf(folder)) {
      const name = nameOf(child.path);
      const here = folder === path ? child : { ...child, path: `${path}/${name}` };
      this.#seen.entries.push(here);
      if (child.kind !== 'folder') this.#seen.known.set(here, child);
      else if (!this.#isPruned(name)) this.expand(child.path, here.path);
    }
  }
}

/** The paths of the upper layer. */
function upperEntries(bytes: Buffer): ReadonlySet<string> | undefined {
  const text = bytes.toString('utf8');
  if (!Buffer.from(text).equals(bytes)) return undefined;
  const records = text.split('\0');
  // Not even the top was listed: it could not be read.
  return records[0] === 'd ' ? new Set(records.map((record) => record.slice(2))) : undefined;
}

const nameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1);
