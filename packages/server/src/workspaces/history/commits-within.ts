import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startGit } from '../../git/run-git.ts';

/** Merges of merges: what is beyond so many commits is cut off, however near it is. */
const MAX_COMMITS = 20_000;

/** Commits, and those among them whose parents are not. */
export interface Within {
  commits: ReadonlySet<string>;
  cutOff: string[];
}

/** The commits that are less than `depth` steps from a commit, itself included. Throws where git does. */
export async function commitsWithin(dir: string, commitSha: string, depth: number): Promise<Within> {
  const known = await shallowOf(dir);
  const commits = new Set([commitSha]);
  const cutOff: string[] = [];
  const parentsOf = openParents(dir);
  try {
    let level = [commitSha];
    for (let step = 1; level.length > 0; step++) {
      const next: string[] = [];
      for (const [index, parents] of (await parentsOf.read(level)).entries()) {
        const commit = level[index]!;
        if (parents.length === 0) continue;
        if (step === depth || known.has(commit) || commits.size > MAX_COMMITS) cutOff.push(commit);
        else next.push(...parents.filter((parent) => !commits.has(parent)));
      }
      level = [...new Set(next)];
      for (const commit of level) commits.add(commit);
    }
  } finally {
    parentsOf.close();
  }
  return { commits, cutOff };
}

/** The commits whose parents the repository itself does not have. */
async function shallowOf(dir: string): Promise<ReadonlySet<string>> {
  const text = await readFile(join(dir, 'shallow'), 'utf8').catch(() => '');
  return new Set(text.split('\n').filter(Boolean));
}

interface Parents {
  read(commits: string[]): Promise<string[][]>;
  close(): void;
}

/** One git that is asked level by level: a process a level would take 5 ms each. */
function openParents(dir: string): Parents {
  const child = startGit(dir, ['cat-file', '--batch']);
  child.on('error', () => undefined);
  child.stdin!.on('error', () => undefined);
  child.stderr!.resume();
  const chunks = (child.stdout! as AsyncIterable<Buffer>)[Symbol.asyncIterator]();
  let rest: Buffer = Buffer.alloc(0);
  const more = async (): Promise<void> => {
    const { done, value } = await chunks.next();
    if (done) throw new Error('git cat-file ended early');
    rest = Buffer.concat([rest, value]);
  };
  const one = async (): Promise<string[]> => {
    while (!rest.includes(10)) await more();
    const end = rest.indexOf(10);
    const [, type, size] = rest.toString('latin1', 0, end).split(' ');
    if (type !== 'commit') throw new Error('a commit is not there');
    const length = end + 1 + Number(size) + 1;
    while (rest.length < length) await more();
    const [head = ''] = rest.toString('latin1', end + 1, length).split('\n\n', 1);
    rest = rest.subarray(length);
    return [...head.matchAll(/^parent ([0-9a-f]{40})$/gm)].map(([, parent]) => parent!);
  };
  return {
    async read(commits) {
      child.stdin!.write(commits.map((commit) => `${commit}\n`).join(''));
      const all: string[][] = [];
      for (let left = commits.length; left > 0; left--) all.push(await one());
      return all;
    },
    close: () => void child.kill('SIGKILL'),
  };
}
