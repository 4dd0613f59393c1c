import { Readable } from 'node:stream';
import { RunnerError } from '../errors.ts';
import type { CapturedFile, CaptureResult } from '../protocol.ts';
import { collect } from '../sandbox/collect.ts';
import { DEFAULT_LIMITS, type Sandbox } from '../sandbox/driver.ts';
import { startSandbox, type Host } from '../sandbox/host.ts';
import { tarHeader, tarPadding, TAR_END } from '../tar.ts';
import type { Workspace } from '../workspaces.ts';
import type { Tree } from '../workspaces/trees.ts';
import { ByteReader } from './byte-reader.ts';
import { Gitignore } from './gitignore.ts';
import { FIND_FORMAT, parseListing, type Listed } from './listing.ts';
import { choose, DEPENDENCY_FOLDERS, RESERVED, type Choice } from './rules.ts';

const TIMEOUT_MS = 60_000;
const LISTING_BYTES = 64 * 1024 ** 2;
const GITIGNORE_BYTES = 256 * 1024;
/** Sends the contents of the files that its stdin names: a line with the number of bytes, then so many of NUL-terminated names. */
const CAT = 'read -r size && head -c "$size" | xargs -0 -r cat --';

/**
 * Lists and hashes an idle workspace from inside one fresh read-only sandbox: find tells what is there, then cat sends the .gitignore
 * files and after them the chosen contents, whose sizes are known, so that no archive has to be parsed. 1,000 files take about 30 ms;
 * a Node script inside would start in as long. Throws `too_large` 413.
 */
export async function capture(host: Host, workspace: Workspace, basePaths: string[]): Promise<CaptureResult> {
  const base = new Set(basePaths);
  const first = await read(host, workspace, base);
  const result = first ?? (await unlock(host, workspace.tree), await read(host, workspace, base));
  if (!result) throw new RunnerError(409, 'changed', 'The workspace cannot be read.');
  workspace.captured = new Map(result.files.map((file) => [file.path, file]));
  return result;
}

/** Undefined when something that belongs to the source cannot be read by its owner. */
async function read(host: Host, workspace: Workspace, base: ReadonlySet<string>): Promise<CaptureResult | undefined> {
  const sandbox = startSandbox(host, { command: ['/bin/sh', '-c', `${findCommand(base)}; printf '\\0'; ${CAT}; ${CAT}`], binds: [workspace.tree.bind(true)], limits: DEFAULT_LIMITS });
  return withReader(sandbox, async (reader) => {
    const entries = parseListing(await reader.records(LISTING_BYTES));
    const ignore = await readGitignores(reader, sandbox, entries);
    const choice = choose(entries, base, ignore, workspace.evidence);
    if (isLocked(entries, choice)) return undefined;
    send(sandbox, choice.files.map((file) => file.path));
    const files: CapturedFile[] = [];
    for (const { path, byteSize, mode } of choice.files) files.push({ path, byteSize, sha256: await reader.sha256(byteSize), executable: (mode & 0o100) !== 0 });
    await reader.end();
    return { files, warnings: choice.warnings };
  });
}

/** The captured contents of these paths as a tar, in order. Throws `changed` 409 for a path that the last capture did not hash. */
export function blobs(host: Host, workspace: Workspace, paths: string[]): Readable {
  const wanted = paths.map((path) => {
    const file = workspace.captured?.get(path);
    if (!file) throw new RunnerError(409, 'changed', `${path} was not captured as it is now.`);
    return file;
  });
  const sandbox = startSandbox(host, { command: ['/bin/sh', '-c', CAT], binds: [workspace.tree.bind(true)], limits: DEFAULT_LIMITS });
  send(sandbox, paths);
  return Readable.from((async function* () {
    const reader = new ByteReader(sandbox.stdout);
    sandbox.stderr.resume();
    try {
      for (const file of wanted) {
        yield tarHeader(file);
        yield* reader.pieces(file.byteSize);
        yield tarPadding(file.byteSize);
      }
      await reader.end();
      yield TAR_END;
    } finally { await sandbox.kill(); }
  })(), { objectMode: false });
}

async function withReader<T>(sandbox: Sandbox, body: (reader: ByteReader) => Promise<T>): Promise<T> {
  const timer = setTimeout(() => void sandbox.kill().catch(() => {}), TIMEOUT_MS);
  sandbox.stderr.resume();
  try { return await body(new ByteReader(sandbox.stdout)); } finally {
    clearTimeout(timer);
    // Not awaited: it can only read, and its end takes 5-10 ms that a run's end would wait for.
    void sandbox.kill().catch(() => {});
  }
}

async function readGitignores(reader: ByteReader, sandbox: Sandbox, entries: Listed[]): Promise<Gitignore> {
  const found = entries.filter((e) => e.kind === 'file' && e.isUtf8 && /(?:^|\/)\.gitignore$/.test(e.path) && e.byteSize <= GITIGNORE_BYTES && (e.mode & 0o400) !== 0);
  send(sandbox, found.map((e) => e.path));
  const ignore = new Gitignore();
  for (const { path, byteSize } of found) ignore.add(path.slice(0, Math.max(0, path.length - '/.gitignore'.length)), (await reader.read(byteSize)).toString());
  return ignore;
}

function send(sandbox: Sandbox, paths: string[]): void {
  const names = Buffer.from(paths.map((path) => `./${path}\0`).join(''));
  sandbox.stdin.write(`${names.length}\n`);
  sandbox.stdin.write(names);
}

/** Left-out folders are named, not walked; dependency folders only where the base has nothing in any. */
function findCommand(base: ReadonlySet<string>): string {
  const holdsDependencies = [...base].some((path) => path.split('/').some((name) => DEPENDENCY_FOLDERS.has(name)));
  const names = [...[...RESERVED].map((name) => `-iname '${name}'`), ...(holdsDependencies ? [] : [...DEPENDENCY_FOLDERS].map((name) => `-name '${name}'`))];
  return `find . -mindepth 1 -type d \\( ${names.join(' -o ')} \\) -prune -printf '${FIND_FORMAT}' -o -mindepth 1 -printf '${FIND_FORMAT}'`;
}

function isLocked(entries: Listed[], choice: Choice): boolean {
  return entries.some((e) => e.kind === 'folder' && (e.mode & 0o500) !== 0o500) || choice.files.some((e) => (e.mode & 0o400) === 0);
}

/** Gives the owner back the right to read what an agent took it from; the execute bit of files stays. */
async function unlock(host: Host, tree: Tree): Promise<void> {
  const script = `find . -type d ! -perm -u=rwx -exec chmod u+rwx '{}' ';'; find . -type f ! -perm -u=r -exec chmod u+r '{}' +`;
  const sandbox = startSandbox(host, { command: ['/bin/sh', '-c', script], binds: [tree.bind(false)], limits: DEFAULT_LIMITS });
  sandbox.stdin.end();
  await collect(sandbox, { maxBytes: 1024 * 1024, timeoutMs: TIMEOUT_MS });
}
