import { rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  MERGE_TREE,
  answerOfItself,
  parseMergeAnswer,
  withoutMadeUpNames,
} from '../../../packages/server/src/merge/merge-answer.ts';
import type { GitAnswer } from '../replay/compare.ts';
import { initReplayGit } from '../replay/git.ts';
import type { ReplayGit } from '../replay/git.ts';
import { createReplayTrees } from '../replay/trees.ts';
import type { File, Files, Triple } from './triple.ts';

/** What git says of some merges, and the repository in which it said so. */
export interface Reference {
  /** Undefined where one of git's assertions failed: there it has no opinion. */
  answers: (GitAnswer | undefined)[];
  git: ReplayGit;
  /** Ends the processes and removes the repository. */
  close(): void;
}

const BRANCH = 'refs/heads/sides';
const WHO = 'committer fuzz <fuzz> 0 +0000\ndata 0\n';

/**
 * Git's own merges of whole trees in a repository that git's own commands made: one fast-import and one
 * merge-tree for all of them, some 0.7 ms for each. A few hundred at a time: all answers are held in
 * memory. @param dir is not there yet.
 */
export async function askReference(triples: readonly Triple[], dir: string): Promise<Reference> {
  const git = await initReplayGit(dir);
  const close = (): void => {
    git.close();
    rmSync(dir, { recursive: true, force: true });
  };
  try {
    const commits = await commitTriples(git, triples, dir);
    const trees = createReplayTrees(git);
    const parsed = (await mergeAll(git, commits)).map((raw, i) => {
      const made = withoutMadeUpNames([commits.sides[i]!.head, commits.sides[i]!.draft]);
      return raw && { ...parseMergeAnswer(raw, made), made };
    });
    await trees.prepare(parsed.flatMap((answer) => answer?.tree ?? []));
    const answers: Reference['answers'] = [];
    for (const answer of parsed)
      answers.push(answer && { ...answer, files: (await trees.list(answer.tree)).files });
    return { answers, git, close };
  } catch (error) {
    close();
    throw error;
  }
}

interface Commits {
  sides: { head: string; draft: string }[];
  /** Merged with itself it gives an answer that no other merge gives, which separates the answers. */
  last: string;
  lastTree: string;
}

async function commitTriples(git: ReplayGit, triples: readonly Triple[], dir: string): Promise<Commits> {
  const marks = join(dir, 'fuzz-marks');
  const last = triples.length * 3 + 1;
  const parts = triples.flatMap((triple, i) => commitsOf(triple, i * 3 + 1));
  parts.push(
    Buffer.from(
      `reset ${BRANCH}\n\ncommit ${BRANCH}\nmark :${last}\n${WHO}M 100644 inline end of the fuzzer's answer\ndata 0\n\n`,
    ),
  );
  await git.run(['fast-import', '--quiet', '--force', `--export-marks=${marks}`], Buffer.concat(parts));
  const oids = new Map(
    (await readFile(marks, 'utf8')).split('\n').map((row) => row.split(' ') as [string, string]),
  );
  const oid = (mark: number): string => oids.get(`:${mark}`)!;
  const lastTree = (await git.run(['rev-parse', `${oid(last)}^{tree}`])).toString().trim();
  return {
    sides: triples.map((_, i) => ({ head: oid(i * 3 + 2), draft: oid(i * 3 + 3) })),
    last: oid(last),
    lastTree,
  };
}

function commitsOf({ base, head, draft }: Triple, mark: number): Buffer[] {
  const parts: Buffer[] = [];
  const commit = (n: number, from: string, before: Files, after: Files): void => {
    parts.push(Buffer.from(`commit ${BRANCH}\nmark :${n}\n${WHO}${from}`));
    for (const path of before.keys()) if (!after.has(path)) parts.push(Buffer.from(`D ${quoted(path)}\n`));
    for (const [path, file] of after)
      if (!sameFile(before.get(path), file))
        parts.push(
          Buffer.from(
            `M ${file.executable ? '100755' : '100644'} inline ${quoted(path)}\ndata ${file.content.length}\n`,
          ),
          file.content,
          Buffer.from('\n'),
        );
    parts.push(Buffer.from('\n'));
  };
  parts.push(Buffer.from(`reset ${BRANCH}\n\n`));
  commit(mark, '', new Map(), base);
  commit(mark + 1, `from :${mark}\n`, base, head);
  commit(mark + 2, `from :${mark}\n`, base, draft);
  return parts;
}

const sameFile = (a: File | undefined, b: File): boolean =>
  a !== undefined && a.content === b.content && a.executable === b.executable;
const quoted = (path: string): string => `"${path.replaceAll('"', '\\"')}"`;

/** Where git aborts it says nothing of all the others: they are asked for in halves. */
async function mergeAll(git: ReplayGit, commits: Commits): Promise<(Buffer | undefined)[]> {
  const { sides, last, lastTree } = commits;
  try {
    const out = await git.run(
      MERGE_TREE,
      sides.map(({ head, draft }) => `${head} ${draft}\n${last} ${last}\n`).join(''),
    );
    return splitAnswers(out, answerOfItself(lastTree), sides.length);
  } catch (error) {
    if (!String(error).includes('SIGABRT')) throw error;
    if (sides.length === 1) return [undefined];
    const half = sides.length >>> 1;
    return [
      ...(await mergeAll(git, { ...commits, sides: sides.slice(0, half) })),
      ...(await mergeAll(git, { ...commits, sides: sides.slice(half) })),
    ];
  }
}

function splitAnswers(out: Buffer, mark: Buffer, count: number): Buffer[] {
  let at = 0;
  return Array.from({ length: count }, () => {
    const end = out.indexOf(mark, at);
    if (end === -1) throw new Error('git merge-tree gave fewer answers than it was asked for');
    const answer = out.subarray(at, end);
    at = end + mark.length;
    return answer;
  });
}
