import type { Context } from '../../context.ts';
import type { ThreadRow } from '../../db/schema.ts';
import { readBlobs } from '../../sources/index.ts';
import type { Entry, Tree } from '../../trees/tree.ts';
import { readCaptured } from '../../workspaces/index.ts';
import type { Attempt } from './attempt.ts';

/** A conflict marker: a line of seven, and then a space or nothing. Merges leave them and agents forget them. */
const MARKER = /^(?:<{7}|>{7})(?: |\r?$)/m;

export const hasMarkers = (content: Buffer): boolean => MARKER.test(content.toString('latin1'));

/** The parts of what a repair starts from that markers may be in. */
type Begun = Pick<Attempt, 'files' | 'made' | 'unmarked'>;

/**
 * Paths of a capture in which a repair left conflict markers: those in conflict, and the other ones that it
 * `changed`, where there were none before.
 */
export async function leftMarkers(
  ctx: Context,
  thread: ThreadRow,
  begun: Begun,
  { captured, changed }: { captured: Tree; changed: string[] },
): Promise<string[]> {
  const marked = await withMarkers(captured, [...begun.unmarked, ...changed], (present) =>
    readCaptured(
      ctx,
      thread.id,
      new Map([...present].map(([path, { sha256, byteSize }]) => [sha256, { path, byteSize }])),
    ),
  );
  const others = new Set(changed);
  const before = new Set(
    await withMarkers(
      begun.files,
      marked.filter((path) => others.has(path)),
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
