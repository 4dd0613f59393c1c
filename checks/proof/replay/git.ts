import { spawn } from 'node:child_process';
import { GIT_ENVIRONMENT } from '../../../packages/server/src/git/environment.ts';
import { GitProcess } from '../../../packages/server/src/merge/git-process.ts';
import { MERGE_TREE, answerOfItself } from '../../../packages/server/src/merge/merge-answer.ts';

/** Git on a bare clone of the repository that is replayed: what it says is the answer that is wanted. */
export interface ReplayGit {
  /** Output of one command. Throws with what it complained of. */
  run(args: string[], input?: string | Buffer): Promise<Buffer>;
  /** Bodies of objects, in the order of the ids. */
  objects(oids: string[]): Promise<Buffer[]>;
  /** Answer of `git merge-tree` for two commits: see merge-answer.ts. */
  mergeTree(head: string, draft: string): Promise<Buffer>;
  close(): void;
}

const LIMIT_MS = 120_000;
/** Objects that are asked for at once: a bound on memory. */
const BATCH = 256;
/** No object has this name, so that git says it to be missing once it has answered all before. */
const END = 'end-of-headrace-replay';

/** Clones `repository` (a folder, a bundle or what else git can clone) into `dir`, which is not there yet. */
export async function openReplayGit(repository: string, dir: string): Promise<ReplayGit> {
  await command(['clone', '--bare', '--quiet', repository, dir]);
  const git = await replayGitAt(dir);
  const format = (await git.run(['rev-parse', '--show-object-format'])).toString().trim();
  if (format === 'sha1') return git;
  git.close();
  throw new Error(`${repository} has ${format} object ids: only sha1 can be replayed`);
}

/** An empty repository in `dir`, which is not there yet. */
export async function initReplayGit(dir: string): Promise<ReplayGit> {
  await command(['init', '--bare', '--quiet', '--template=', '--object-format=sha1', dir]);
  return replayGitAt(dir);
}

async function replayGitAt(dir: string): Promise<ReplayGit> {
  const run: ReplayGit['run'] = (args, input) => command(['--git-dir', dir, ...args], input);
  const reading = new GitProcess({ gitDir: dir, args: ['cat-file', '--batch'], unbuffered: false });
  const merging = new GitProcess({ gitDir: dir, args: MERGE_TREE, unbuffered: true });
  // The clean merge of a commit with itself ends an answer; no history has this one's tree.
  const last = await commitOf(run, END);
  const lastAnswer = answerOfItself(last.tree);
  return {
    run,
    async objects(oids) {
      const bodies: Buffer[] = [];
      for (let from = 0; from < oids.length; from += BATCH) {
        const batch = oids.slice(from, from + BATCH);
        bodies.push(
          ...splitObjects(
            await reading.ask(`${batch.join('\n')}\n${END}\n`, Buffer.from(`${END} missing\n`), LIMIT_MS),
            batch,
          ),
        );
      }
      return bodies;
    },
    async mergeTree(head, draft) {
      const answer = await merging.ask(
        `${head} ${draft}\n${last.commit} ${last.commit}\n`,
        lastAnswer,
        LIMIT_MS,
      );
      return answer.subarray(0, answer.length - lastAnswer.length);
    },
    close() {
      reading.stop();
      merging.stop();
    },
  };
}

async function commitOf(run: ReplayGit['run'], name: string): Promise<{ commit: string; tree: string }> {
  const stream = `commit refs/replay/${name}\ncommitter replay <replay> 0 +0000\ndata 0\nM 100644 inline ${name}\ndata 0\n\n`;
  await run(['fast-import', '--quiet'], stream);
  const [commit, tree] = (await run(['rev-parse', `refs/replay/${name}`, `refs/replay/${name}^{tree}`]))
    .toString()
    .split('\n');
  return { commit: commit!, tree: tree! };
}

/** `<oid> <type> <size>LF<body>LF` of each. */
function splitObjects(answer: Buffer, oids: string[]): Buffer[] {
  let at = 0;
  return oids.map((oid) => {
    const end = answer.indexOf(10, at);
    const header = answer.toString('latin1', at, end);
    const size = Number(header.split(' ')[2]);
    if (!Number.isInteger(size)) throw new Error(`the repository lacks ${oid}: ${header}`);
    at = end + size + 2;
    return answer.subarray(end + 1, end + 1 + size);
  });
}

function command(args: string[], input: string | Buffer = ''): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const child = spawn('git', args, {
      env: { ...GIT_ENVIRONMENT, PATH: process.env['PATH'] ?? '/usr/bin:/bin' },
      stdio: 'pipe',
      timeout: LIMIT_MS,
    });
    const chunks: Buffer[] = [];
    let complaint = '';
    child.stdout.on('data', (data: Buffer) => chunks.push(data));
    child.stderr.on('data', (data: Buffer) => {
      complaint = (complaint + data.toString()).slice(-4096);
    });
    child.once('error', reject);
    child.once('close', (code, signal) => {
      if (code === 0) resolve(Buffer.concat(chunks));
      else
        reject(
          new Error(
            `git ${args.find((arg) => !arg.startsWith('-'))} ended (${code ?? signal}): ${complaint.trim()}`,
          ),
        );
    });
    child.stdin.on('error', () => undefined); // the end of the process says what was wrong
    child.stdin.end(input);
  });
}
