/**
 * The `.git` of a workspace: a shallow history of one commit, as the runner keeps it. It is made by git on
 * this machine from the repository's cache alone, which no sandbox can reach.
 */
import { createReadStream } from 'node:fs';
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { LEFT_OVER } from '../../commits/index.ts';
import { TAR_END, tarHeader, tarOf, tarPadding } from '@headrace/runner/tar';
import { runGit } from '../../git/run-git.ts';
import type { Tree } from '../../trees/tree.ts';
import { commitEntries, linksAmong } from './commit-files.ts';
import { commitsWithin } from './commits-within.ts';
import { gitIndex } from './git-index.ts';

/** What a workspace's `.git` shows. */
export interface History {
  /** Its branch is here. */
  headSha: string;
  /** What the branch that the thread began from had. */
  baseSha: string;
  baseBranch: string | null;
  depth: number;
}

const PACK_MS = 300_000;

/** Files have the time 0 after each restore: only sizes and whole seconds are compared. */
const CONFIG = `[core]
\trepositoryformatversion = 0
\tfilemode = true
\tbare = false
\tlogallrefupdates = true
\tcheckStat = minimal
\ttrustctime = false
\tfsync = none
[gc]
\tauto = 0
[maintenance]
\tauto = false
`;
/** What no capture takes is not a change either. */
const EXCLUDED = ['.context/', '.hoplite/', 'node_modules/', '.venv/', 'venv/', '__pycache__/'];

/**
 * A tar of the `.git`. `files`: those of the commit that a source holds, where that is known; all others are
 * shown as they are in the commit. Throws GitError where the cache does not have the commit whole.
 */
export async function packHistory(dir: string, history: History, files: Tree | null): Promise<Readable> {
  // git renames packs from its own folder: they have to be on one file system.
  const folder = await mkdtemp(join(dir, LEFT_OVER));
  try {
    const shallow = await packCommits(dir, history, join(folder, 'pack'));
    const entries = await commitEntries(dir, history.headSha);
    const links = await linksAmong(dir, history.headSha, entries);
    const index = await gitIndex(
      entries.map((entry) => {
        const path = entry.path.toString('utf8');
        const isFile = entry.mode.startsWith('100') && (files === null || files.has(path));
        return { ...entry, isPresent: isFile || (entry.mode === '120000' && links.has(path)) };
      }),
    );
    const tar = Readable.from(tarChunks(folder, described(history, shallow, index)), { objectMode: false });
    // However it ends, and also if nobody reads it.
    return tar.once('close', () => void rm(folder, { recursive: true, force: true }));
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}

/** Packs what the commits have; returns those whose parents are left out. */
async function packCommits(
  dir: string,
  { headSha, baseSha, depth }: History,
  into: string,
): Promise<string[]> {
  const { commits, cutOff } = await commitsWithin(dir, headSha, depth);
  const isApart = !commits.has(baseSha);
  const base = isApart ? await commitsWithin(dir, baseSha, 1) : { cutOff: [] };
  const shallow = [...cutOff, ...base.cutOff];
  const tips = isApart ? [headSha, baseSha] : [headSha];
  // Deltas are taken as they are: to look for more takes longer than the bytes are worth.
  const options = ['--revs', '--quiet', '--delta-base-offset', '--window=0', '--threads=1'];
  await runGit(dir, ['--shallow-file', '', 'pack-objects', '--shallow', ...options, into], {
    input: [...shallow.map((sha) => `--shallow ${sha}\n`), ...tips.map((sha) => `${sha}\n`)].join(''),
    limitMs: PACK_MS,
  });
  return shallow;
}

function described({ headSha, baseSha, baseBranch }: History, shallow: string[], index: Buffer): Buffer {
  const files: Record<string, string | Buffer> = {
    HEAD: 'ref: refs/heads/work\n',
    config: CONFIG,
    'info/exclude': EXCLUDED.map((name) => `${name}\n`).join(''),
    // Attributes in the tree change no bytes.
    'info/attributes': '* -text -ident -filter !working-tree-encoding\n',
    'refs/heads/work': `${headSha}\n`,
    ...(baseBranch === null
      ? {}
      : { 'packed-refs': `# pack-refs with: sorted \n${baseSha} refs/remotes/origin/${baseBranch}\n` }),
    ...(shallow.length === 0 ? {} : { shallow: shallow.map((sha) => `${sha}\n`).join('') }),
    index,
  };
  const entries = Object.entries(files).map(([name, content]) => ({ path: `.git/${name}`, content }));
  return tarOf(entries).subarray(0, -TAR_END.length);
}

/** The tar at the consumer's pace. */
async function* tarChunks(folder: string, described: Buffer): AsyncGenerator<Buffer> {
  yield described;
  for (const name of await readdir(folder)) {
    const { size } = await stat(join(folder, name));
    yield tarHeader({ path: `.git/objects/pack/${name}`, byteSize: size, executable: false });
    yield* createReadStream(join(folder, name)) as AsyncIterable<Buffer>;
    yield tarPadding(size);
  }
  yield TAR_END;
}
