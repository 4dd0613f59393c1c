import { rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ReplayGit } from './git.ts';

/** Three trees that have no commits yet. */
interface Sketch {
  trees: [base: string, head: string, draft: string];
  /** Paths, as latin1, that none of the three is to have. */
  leftOut: ReadonlyMap<string, unknown>;
}

const BRANCH = 'refs/replay/sides';
const WHO = 'committer replay <replay> 0 +0000\ndata 0\n';

/**
 * Commits head and draft of each sketch upon its base, all in one go: git finds a merge's base by parents
 * only.
 */
export async function commitSketches(
  git: ReplayGit,
  sketches: Sketch[],
  scratch: string,
): Promise<{ head: string; draft: string }[]> {
  if (sketches.length === 0) return [];
  const marks = join(scratch, 'marks');
  await git.run(
    ['fast-import', '--quiet', '--force', `--export-marks=${marks}`],
    Buffer.concat(sketches.map(streamOf)),
  );
  const oids = new Map(
    (await readFile(marks, 'utf8')).split('\n').map((row) => row.split(' ') as [string, string]),
  );
  rmSync(marks);
  return sketches.map((_, i) => ({ head: oids.get(`:${i * 3 + 2}`)!, draft: oids.get(`:${i * 3 + 3}`)! }));
}

function streamOf({ trees: [base, head, draft], leftOut }: Sketch, i: number): Buffer {
  const deletions = [...leftOut.keys()].map((path) => `D ${quoted(path)}\n`).join('');
  const commit = (mark: number, tree: string, from: string): string =>
    `commit ${BRANCH}\nmark :${mark}\n${WHO}${from}M 040000 ${tree} ""\n${deletions}\n`;
  const first = i * 3 + 1;
  return Buffer.from(
    [
      `reset ${BRANCH}\n\n`,
      commit(first, base, ''),
      commit(first + 1, head, `from :${first}\n`),
      commit(first + 2, draft, `from :${first}\n`),
    ].join(''),
    'latin1',
  );
}

const quoted = (bytes: string): string =>
  `"${bytes.replaceAll(/["\\\n]/g, (c) => (c === '\n' ? '\\n' : `\\${c}`))}"`;
