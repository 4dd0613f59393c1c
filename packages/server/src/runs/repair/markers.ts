import type { Context } from '../../context.ts';
import type { ThreadRow } from '../../db/schema.ts';
import { readBlobs } from '../../sources/index.ts';
import type { Entry, Tree } from '../../trees/tree.ts';
import { readCaptured } from '../../workspaces/index.ts';

/**
 * A line that begins with seven of them, and then a space or nothing: what merges leave and agents forget.
 */
const MARKER = /^(?:<{7}|>{7})(?: |\r?$)/m;

export const hasMarkers = (content: Buffer): boolean => MARKER.test(content.toString('latin1'));

/** What a repair starts from, as far as markers go (`Attempt`). */
interface Begun {
  files: Tree;
  made: ReadonlyMap<string, Buffer>;
  unmarked: string[];
}

/**
 * Paths of a capture in which a repair left conflict markers: of those in conflict, and of what it
 * `changed` beside, where there were none before.
 */
export async function leftMarkers(
  ctx: Context,
  thread: ThreadRow,
  begun: Begun,
  captured: Tree,
  changed: string[],
): Promise<string[]> {
  const marked = await withMarkers(captured, [...begun.unmarked, ...changed], (present) =>
    readCaptured(
      ctx,
      thread.id,
      new Map([...present].map(([path, { sha256, byteSize }]) => [sha256, { path, byteSize }])),
    ),
  );
  const beside = new Set(changed);
  const before = new Set(
    await withMarkers(
      begun.files,
      marked.filter((path) => beside.has(path)),
      async (present) => {
        const shas = [...new Set([...present.values()].map(({ sha256 }) => sha256))];
        return new Map([
          ...begun.made,
          ...(await readBlobs(
            ctx,
            thread.project_id,
            shas.filter((sha256) => !begun.made.has(sha256)),
          )),
        ]);
      },
    ),
  );
  return marked.filter((path) => !before.has(path));
}

async function withMarkers(
  tree: Tree,
  paths: string[],
  read: (present: Map<string, Entry>) => Promise<Map<string, Buffer>>,
): Promise<string[]> {
  const present = new Map(
    paths.flatMap((path) => {
      const entry = tree.get(path);
      return entry ? [[path, entry] as const] : [];
    }),
  );
  const contents = await read(present);
  return [...present].filter(([, { sha256 }]) => hasMarkers(contents.get(sha256)!)).map(([path]) => path);
}
