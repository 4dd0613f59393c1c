import { hash } from 'node:crypto';
import { Readable } from 'node:stream';
import { RunnerError } from '../errors.ts';
import { LAYER_LISTING_BYTES, type CapturedFile, type CaptureResult, type OverRequest } from '../protocol.ts';
import { collect } from '../sandbox/collect.ts';
import { DEFAULT_LIMITS, type Bind, type Sandbox } from '../sandbox/driver.ts';
import { ValueFinder } from '../masking/value-finder.ts';
import type { Layer } from '../layers/layer-cache.ts';
import { LAYER, layerBind, LayerView } from '../layers/layer-view.ts';
import { startSandbox, type Host } from '../sandbox/host.ts';
import { tarHeader, tarPadding, TAR_END, type TarEntry } from '../tar.ts';
import type { CapturedFiles, Workspace } from '../workspaces/workspaces.ts';
import type { Tree } from '../workspaces/tree.ts';
import { ByteReader } from '../workspaces/byte-reader.ts';
import {
  bytesOf,
  END_LISTING,
  FIND_FORMAT,
  isWithinReach,
  parseListing,
  type Listed,
} from '../workspaces/listing.ts';
import type { IgnoreQuestion } from './ignore-question.ts';
import { findIgnored } from './ignored.ts';
import { choose, DEPENDENCY_FOLDERS, RESERVED, SPECIAL, type Choice } from './rules.ts';
import { seeTouched, touchedCommand, upperBind, type Seen } from './touched.ts';

const TIMEOUT_MS = 60_000;
const LISTING_BYTES = 64 * 1024 ** 2;
/** Far more than a source may have; sparse files of this size take no disk space. */
const CONTENT_BYTES = 1024 ** 3;
const GITIGNORE_BYTES = 256 * 1024;
/**
 * Changed files that are smaller together stay in memory for a moment: the worker asks for new contents at
 * once, and another sandbox that prints them takes 15-20 ms of processor time.
 */
const KEPT_BYTES = 256 * 1024,
  KEPT_MS = 10_000;
/** For all .gitignore files together: their patterns take a hundred times as much memory. */
const GITIGNORES_BYTES = 1024 ** 2;
/**
 * Prints the contents of the files that its stdin names: first a line with the number of bytes, then as many
 * bytes of NUL-terminated names.
 */
const CAT = 'read -r size && [ "$size" -eq 0 ] || head -c "$size" | xargs -0 -r cat --';

/**
 * What is part of a workspace's source: the files that were hashed, and the untouched files of its source
 * tree: path → path in that tree.
 */
interface Found {
  hashed: CapturedFile[];
  kept: ReadonlyMap<string, Listed>;
  /** Of the hashed files, where they are small. */
  contents: ReadonlyMap<string, Buffer>;
  strays: Choice['strays'];
  warnings: CaptureResult['warnings'];
  /** Paths of hashed files with a secret. */
  secrets: string[];
}

/**
 * Lists and hashes an idle workspace from inside one fresh read-only sandbox: find lists the entries, then
 * cat prints the .gitignore files and after them the chosen contents. Their sizes are known, so no archive
 * has to be parsed. 1,000 files take about 30 ms; a Node script inside would need that long to start. Throws
 * `too_large` 413.
 */
export async function capture(host: Host, workspace: Workspace, basePaths: string[]): Promise<CaptureResult> {
  const { hashed, strays, warnings, secrets } = await find(host, workspace, new Set(basePaths), (known) =>
    seeAll(workspace.tree, known),
  );
  return { files: hashed, strays, warnings, secrets };
}

/**
 * Captures a workspace over a source tree as changes to that tree: lists only what was touched and hashes
 * only what may have been written.
 */
export async function captureChanges(
  host: Host,
  workspace: Workspace,
  basePaths: string[],
): Promise<CaptureResult> {
  const over = sourceBelow(workspace);
  const { listing } = over.source;
  const { hashed, kept, strays, warnings, secrets } = await find(
    host,
    workspace,
    new Set(basePaths),
    (known) => seeSome(workspace.tree, over, known),
  );
  const moved = [...kept].flatMap(([path, { path: from }]) => (path === from ? [] : { path, from }));
  return {
    files: hashed,
    strays,
    warnings,
    secrets,
    over: { moved, missing: [...listing.paths].filter((path) => kept.get(path)?.path !== path) },
  };
}

/**
 * The base paths that a request gives relative to a source tree. Throws `changed` 409 when the workspace does
 * not lie over that tree.
 */
export function basePathsOf(workspace: Workspace, { over, added, removed }: OverRequest): string[] {
  const base = new Set(sourceBelow(workspace, over).source.listing.paths);
  for (const path of removed) base.delete(path);
  for (const path of added) base.add(path);
  return [...base];
}

function sourceBelow({ tree }: Workspace, key?: string): NonNullable<Tree['over']> {
  if (!tree.over || (key !== undefined && tree.over.source.key !== key))
    throw new RunnerError(409, 'changed', 'The workspace does not lie over these files.');
  return tree.over;
}

async function find(
  host: Host,
  workspace: Workspace,
  base: ReadonlySet<string>,
  see: (known: Known) => Way,
): Promise<Found> {
  const known = { base, links: workspace.tree.links };
  const { still } = workspace;
  let way = see(known);
  let found = await read(host, workspace, base, way);
  for (let tries = 0; typeof found === 'string' && tries < 2; tries++) {
    // The task that is only paused finds its files as it left them.
    if (found === 'locked' && still) break;
    if (found === 'locked') await unlock(host, workspace.tree);
    else way = seeAll(workspace.tree, known);
    found = await read(host, workspace, base, way);
  }
  if (typeof found === 'string') throw new RunnerError(409, 'changed', 'The workspace cannot be read.');
  if (workspace.still !== still)
    throw new RunnerError(409, 'changed', 'The task of the workspace went on while it was captured.');
  const { hashed, kept, contents } = found;
  const byPath = new Map(hashed.map((file) => [file.path, file]));
  const captured: CapturedFiles = {
    get: (path) => byPath.get(path) ?? entryOf(path, kept.get(path)),
    contents,
  };
  workspace.captured = captured;
  setTimeout(() => {
    captured.contents = new Map();
  }, KEPT_MS).unref();
  return found;
}

const entryOf = (path: string, file: Listed | undefined): TarEntry | undefined =>
  file && { path, byteSize: file.byteSize, executable: isExecutable(file) };
const isExecutable = ({ mode }: Listed): boolean => (mode & 0o100) !== 0;

/** How to list a tree: the command, the additional folders to mount, and how to read the output. */
interface Way {
  command: string;
  binds: Bind[];
  see(reader: ByteReader): Promise<Seen | undefined>;
}

/** What came with the workspace: the paths of its source, and its links. */
interface Known {
  base: ReadonlySet<string>;
  links: Tree['links'];
}

function seeAll({ over, layer, placed }: Tree, known: Known): Way {
  const pruned = prunedBy(known).tests;
  const list =
    `find . -mindepth 1 -type d \\( ${pruned} \\) -prune -printf '${FIND_FORMAT}' -o -mindepth 1 -printf ` +
    `'${FIND_FORMAT}'`;
  const isMounted = over && layer;
  return {
    command: `${list}; ${END_LISTING}${isMounted ? `; (cd ${LAYER} && ${list}); ${END_LISTING}` : ''}`,
    binds: [],
    see: async (reader) => {
      const entries = parseListing(await reader.records(LISTING_BYTES + (layer ? LAYER_LISTING_BYTES : 0)));
      const view = isMounted ? new LayerView(parseListing(await reader.records(LISTING_BYTES))) : placed;
      return { entries, known: new Map(), layer: view };
    },
  };
}

function seeSome({ layer }: Tree, { overlay, source }: NonNullable<Tree['over']>, known: Known): Way {
  const { tests, isPruned } = prunedBy(known);
  const hasLayer = layer !== undefined;
  return {
    command: touchedCommand(tests, hasLayer),
    binds: [upperBind(overlay)],
    see: (reader) => seeTouched(reader, source.listing, { isPruned, hasLayer }),
  };
}

/**
 * `locked`: something that belongs to the source cannot be read by its owner. `unexpected`: the listing is
 * malformed.
 */
async function read(
  host: Host,
  workspace: Workspace,
  base: ReadonlySet<string>,
  { command, binds, see }: Way,
): Promise<Found | 'locked' | 'unexpected'> {
  const { layer: layerOf } = workspace.tree;
  const sandbox = startSandbox(host, {
    command: ['/bin/sh', '-c', `${command}; ${CAT}; ${CAT}${layerOf ? `; cd ${LAYER} && ${CAT}` : ''}`],
    binds: [workspace.tree.bind({ readOnly: true }), ...binds, ...(layerOf ? [layerBind(layerOf)] : [])],
    limits: DEFAULT_LIMITS,
  });
  return withReader(sandbox, async (reader) => {
    const seen = await see(reader);
    if (!seen) return 'unexpected';
    const { entries, known, layer } = seen;
    const files = await readGitignores(reader, sandbox, entries);
    const { evidence, tree } = workspace;
    const isOfSource = ({ path, bytes }: Listed): boolean =>
      bytes === undefined && (base.has(path) || tree.links.has(path));
    const own = layer ? entries.filter((e) => isOfSource(e) || !layer.covers(e)) : entries;
    const choice = await choose(own, { base, evidence, links: tree.links }, async (added) =>
      files.length > 0 && added.length > 0
        ? findIgnored({ files, paths: added.map(askedFor).join('') })
        : new Uint8Array(),
    );
    if (isLocked(entries, choice)) return 'locked';
    const finder = new ValueFinder(workspace.secrets);
    // A file that was only moved is as it was in the source, which may have held the secret already.
    const isChanged = (file: Listed): boolean => {
      const same = known.get(file);
      return !same || (finder.isNeeded && same.path !== file.path);
    };
    const changed = choice.files.filter(isChanged);
    const alike = layer ? changed.filter((file) => !isOfSource(file) && layer.isAlike(file)) : [];
    const changedBytes = sizeOf(changed);
    // A layer has a limit of its own.
    if (changedBytes - sizeOf(alike) > CONTENT_BYTES)
      throw new RunnerError(413, 'too_large', 'The files of the workspace are too large to be captured.');
    send(sandbox, pathsOf(changed));
    const all: CapturedFile[] = [];
    const contents = new Map<string, Buffer>();
    const secrets: string[] = [];
    for (const file of changed) {
      const search = finder.isNeeded ? finder.search() : undefined;
      const content = changedBytes <= KEPT_BYTES ? await reader.read(file.byteSize) : undefined;
      if (content) {
        contents.set(file.path, content);
        search?.push(content);
      }
      all.push({
        path: file.path,
        byteSize: file.byteSize,
        sha256: content ? hash('sha256', content) : await reader.sha256(file.byteSize, search),
        executable: isExecutable(file),
      });
      if (search?.hasFound) secrets.push(file.path);
    }
    const hashes = layerOf ? await hashesOf(layerOf, alike, { reader, sandbox }) : new Map<string, string>();
    const isAlike = new Set(pathsOf(alike));
    const hashed = all.filter(({ path, sha256 }) => !isAlike.has(path) || hashes.get(path) !== sha256);
    await reader.end();
    const kept = new Map(
      choice.files.flatMap((file) => {
        const same = known.get(file);
        return same && !isChanged(file) ? [[file.path, same]] : [];
      }),
    );
    const isHashed = new Set(pathsOf(hashed));
    return { ...choice, hashed, kept, contents, secrets: secrets.filter((path) => isHashed.has(path)) };
  });
}

/**
 * The captured contents of these paths as a tar, in order. Throws `changed` 409 for a path that the last
 * capture did not hash.
 */
export function blobs(host: Host, workspace: Workspace, paths: string[]): Readable {
  const wanted = paths.map((path) => {
    const file = workspace.captured?.get(path);
    if (!file) throw new RunnerError(409, 'changed', `${path} was not captured as it is now.`);
    return file;
  });
  const contents = workspace.captured?.contents;
  if (wanted.every(({ path }) => contents?.has(path)))
    return Readable.from(
      [
        ...wanted.flatMap((file) => [tarHeader(file), contents!.get(file.path)!, tarPadding(file.byteSize)]),
        TAR_END,
      ],
      { objectMode: false },
    );
  const sandbox = startSandbox(host, {
    command: ['/bin/sh', '-c', CAT],
    binds: [workspace.tree.bind({ readOnly: true })],
    limits: DEFAULT_LIMITS,
  });
  send(sandbox, paths);
  const archive = Readable.from(
    (async function* () {
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
      } finally {
        await sandbox.kill();
      }
    })(),
    { objectMode: false },
  );
  // An archive that is given up before anybody reads it never reaches its end above.
  return archive.once('close', () => void sandbox.kill().catch(() => {}));
}

async function withReader<T>(sandbox: Sandbox, body: (reader: ByteReader) => Promise<T>): Promise<T> {
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    void sandbox.kill().catch(() => {});
  }, TIMEOUT_MS);
  sandbox.stderr.resume();
  try {
    return await body(new ByteReader(sandbox.stdout));
  } catch (error) {
    // Not `changed`: that would be retried forever.
    throw isLate ? new RunnerError(413, 'too_large', 'The workspace took too long to be captured.') : error;
  } finally {
    clearTimeout(timer);
    // Not awaited: the sandbox can only read, and its end takes 5-10 ms that the end of a run would wait for.
    void sandbox.kill().catch(() => {});
  }
}

/** The hashes of these files in a layer; those that it does not know are read from the sandbox. */
async function hashesOf(
  { hashes }: Layer,
  files: Listed[],
  { reader, sandbox }: { reader: ByteReader; sandbox: Sandbox },
): Promise<ReadonlyMap<string, string>> {
  const unknown = files.filter(({ path }) => !hashes.has(path));
  send(sandbox, pathsOf(unknown));
  for (const { path, byteSize } of unknown) hashes.set(path, await reader.sha256(byteSize));
  return hashes;
}

const sizeOf = (files: { byteSize: number }[]): number =>
  files.reduce((sum, { byteSize }) => sum + byteSize, 0);
const pathsOf = (files: { path: string }[]): string[] => files.map(({ path }) => path);

const askedFor = (entry: Listed): string => `${bytesOf(entry)}${entry.kind === 'folder' ? '/' : ''}\0`;

async function readGitignores(
  reader: ByteReader,
  sandbox: Sandbox,
  entries: Listed[],
): Promise<IgnoreQuestion['files']> {
  const found = entries.filter(
    (e) =>
      e.kind === 'file' &&
      e.bytes === undefined &&
      isWithinReach(e) &&
      /(?:^|\/)\.gitignore$/.test(e.path) &&
      e.byteSize <= GITIGNORE_BYTES &&
      (e.mode & 0o400) !== 0,
  );
  if (sizeOf(found) > GITIGNORES_BYTES)
    throw new RunnerError(
      413,
      'too_large',
      'The .gitignore files of the workspace are too large to be read.',
    );
  send(sandbox, pathsOf(found));
  const files: IgnoreQuestion['files'] = [];
  for (const entry of found)
    files.push({
      folder: bytesOf(entry).slice(0, Math.max(0, bytesOf(entry).length - '/.gitignore'.length)),
      text: (await reader.read(entry.byteSize)).toString('latin1'),
    });
  return files;
}

function send(sandbox: Sandbox, paths: string[]): void {
  const names = Buffer.from(paths.map((path) => `./${path}\0`).join(''));
  sandbox.stdin.write(`${names.length}\n`);
  sandbox.stdin.write(names);
}

/**
 * Left-out folders are named, not walked; dependency folders only where the base has nothing in any of them.
 * Returned both as tests of find and as a function.
 */
function prunedBy({ base, links }: Known): { tests: string; isPruned(name: string): boolean } {
  const isHeld = [base, links].some((known) => known.keys().some(holdsDependency));
  const dependencies = isHeld ? [] : [...DEPENDENCY_FOLDERS];
  const tests = [
    ...[...RESERVED].map((name) => `-iname '${name}'`),
    ...dependencies.map((name) => `-name '${name}'`),
  ].join(' -o ');
  return { tests, isPruned: (name) => RESERVED.has(name.toLowerCase()) || dependencies.includes(name) };
}

const holdsDependency = (path: string): boolean =>
  SPECIAL.test(path) && path.split('/').some((name) => DEPENDENCY_FOLDERS.has(name));

function isLocked(entries: Listed[], choice: Choice): boolean {
  return (
    entries.some((e) => e.kind === 'folder' && (e.mode & 0o500) !== 0o500 && isWithinReach(e)) ||
    choice.files.some((e) => (e.mode & 0o400) === 0)
  );
}

/** Gives the owner back the read rights that an agent took away; the execute bit of files stays. */
async function unlock(host: Host, tree: Tree): Promise<void> {
  const script = `find . -type d ! -perm -u=rwx -exec chmod u+rwx '{}' ';'; find . -type f ! -perm -u=r -exec chmod u+r '{}' +`;
  const sandbox = startSandbox(host, {
    command: ['/bin/sh', '-c', script],
    binds: [tree.bind({ readOnly: false })],
    limits: DEFAULT_LIMITS,
  });
  sandbox.stdin.end();
  await collect(sandbox, { maxBytes: 1024 * 1024, timeoutMs: TIMEOUT_MS });
}
