import {
  createWriteStream,
  lstatSync,
  mkdirSync,
  renameSync,
  rmdirSync,
  rmSync,
  readdirSync,
  copyFileSync,
  chmodSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { finished, type Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { below, makeWay, PathError } from '@headrace/agent/paths.ts';
import { extract } from 'tar-stream';
import { RESERVED } from '../capture/rules.ts';
import { RunnerError } from '../errors.ts';
import { readState, syncFolder, writeDurably } from './state-folder.ts';

const NAME = '.headrace-patch.json';
/** Room for 50,000 paths of 1,024 characters. */
const LIST_BYTES = 256 * 1024 ** 2;
const CONTENT_BYTES = 1024 ** 3,
  FILES = 50_000;

/** What a patch does, once all of it is on this machine. */
interface Plan {
  /** Paths with one character per byte. */
  delete: string[];
  /** Each is staged under its index. */
  write: { path: string; executable: boolean }[];
}

/**
 * Changes a worktree as a patch says (../protocol.ts, POST /workspaces/:id/patch). All of it is staged first; from then on it is
 * carried out, by the next program if this one is killed (`finishPatch`). Throws `invalid_tar` 400, `too_large` 413.
 */
export async function patch(folder: string, staged: string, tar: Readable): Promise<void> {
  rmSync(staged, { recursive: true, force: true });
  mkdirSync(staged, { recursive: true, mode: 0o700 });
  try {
    const plan = await stage(folder, staged, tar);
    writeDurably(join(staged, 'plan.json'), JSON.stringify(plan));
    syncFolder(dirname(staged));
  } catch (error) {
    rmSync(staged, { recursive: true, force: true });
    if (error instanceof PathError) throw new RunnerError(400, 'invalid_tar', error.message);
    if (error instanceof RunnerError) throw error;
    throw new RunnerError(400, 'invalid_tar', `The patch cannot be read: ${(error as Error).message}`);
  }
  finishPatch(folder, staged);
}

/** Carries out what is staged for a worktree as a whole. What was done already is done again, to the same end. */
export function finishPatch(folder: string, staged: string): void {
  const plan = readState<Plan>(join(staged, 'plan.json'));
  if (!plan) return;
  for (const path of plan.delete) remove(folder, path);
  for (const [index, { path, executable }] of plan.write.entries()) {
    const file = below(folder, path);
    const from = join(staged, String(index));
    if (!lstatSync(from, { throwIfNoEntry: false })) continue; // in its place already
    makeWay(folder, file);
    chmodSync(from, executable ? 0o755 : 0o644);
    put(from, file);
  }
  rmSync(staged, { recursive: true, force: true });
}

/** Moves a file into its place, whole; what was there gives way. */
function put(from: string, file: string): void {
  if (lstatSync(file, { throwIfNoEntry: false })?.isDirectory()) rmSync(file, { recursive: true });
  try {
    renameSync(from, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EXDEV') throw error;
    const beside = `${file}.headrace-part`;
    copyFileSync(from, beside);
    renameSync(beside, file);
    rmSync(from);
  }
}

function remove(folder: string, path: string): void {
  const file = below(latin1(folder), path);
  const above: string[] = [];
  for (let at = dirname(file); at !== latin1(folder); at = dirname(at)) above.unshift(at);
  // A link or a file in the way: not a path of this tree.
  for (const one of above) if (!lstatSync(raw(one), { throwIfNoEntry: false })?.isDirectory()) return;
  rmSync(raw(file), { recursive: true, force: true });
  for (const one of above.toReversed()) {
    if (readdirSync(raw(one), 'buffer').length > 0) return;
    rmdirSync(raw(one));
  }
}

const latin1 = (text: string): string => Buffer.from(text).toString('latin1');
const raw = (path: string): Buffer => Buffer.from(path, 'latin1');

async function stage(folder: string, staged: string, tar: Readable): Promise<Plan> {
  const plan: Plan = { delete: [], write: [] };
  let isFirst = true,
    left = CONTENT_BYTES;
  const archive = extract();
  // Also where the connection ends in the middle.
  finished(tar, (error) => error && archive.destroy(error));
  tar.pipe(archive);
  for await (const entry of archive) {
    const { name, type, size, mode } = entry.header;
    if (isFirst) {
      if (name !== NAME || size > LIST_BYTES) throw invalid(`it does not begin with ${NAME}`);
      plan.delete = deletedBy(await textOf(entry));
      for (const path of plan.delete) requirePath(latin1(folder), path);
      isFirst = false;
      continue;
    }
    // Links that came with a source are part of no source.
    if (type !== 'file') {
      entry.resume();
      continue;
    }
    requirePath(folder, name);
    left -= size;
    if (left < 0 || plan.write.length >= FILES)
      throw new RunnerError(413, 'too_large', 'The patch is too large.');
    await pipeline(
      entry,
      createWriteStream(join(staged, String(plan.write.length)), { flags: 'wx', mode: 0o600, flush: true }),
    );
    plan.write.push({ path: name, executable: (mode & 0o100) !== 0 });
  }
  if (isFirst) throw invalid('it is empty');
  return plan;
}

function deletedBy(text: string): string[] {
  const { delete: names = [], deleteBytes = [] } = JSON.parse(text) as Record<string, unknown>;
  const all = [names, deleteBytes];
  if (!all.every((list) => Array.isArray(list) && list.every((path) => typeof path === 'string')))
    throw invalid('what it deletes is no list of paths');
  return [...(names as string[]).map(latin1), ...(deleteBytes as string[])];
}

/** Nothing leaves the folder, and git's own stays as it is. Throws PathError, `invalid_tar` 400. */
function requirePath(folder: string, path: string): void {
  const file = below(folder, path);
  const names = file.slice(folder.length + 1).split('/');
  if (names.some((name) => RESERVED.has(name.toLowerCase()))) throw invalid(`${path} is reserved`);
}

async function textOf(entry: AsyncIterable<unknown>): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of entry) parts.push(part as Buffer);
  return Buffer.concat(parts).toString();
}

const invalid = (why: string): RunnerError =>
  new RunnerError(400, 'invalid_tar', `The patch is wrong: ${why}.`);
