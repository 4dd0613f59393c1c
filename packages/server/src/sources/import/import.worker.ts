/**
 * The thread that parses, hashes and packs: 10,000 files are 300 ms of CPU, for which no other request should
 * wait. It keeps the contents of parsed bodies, within its pool's bound, until they are packed or released.
 */
import { parentPort, type Transferable } from 'node:worker_threads';
import type { BundleFile } from './bundle.ts';
import type { Refusal } from './bundle-rules.ts';
import { CommitReading } from './commit-reading.ts';
import { applyChanges, parseEdit, type Change, type Edit } from './edits.ts';
import { parseJsonImport } from './json-import.ts';
import type {
  Answer,
  EditedSource,
  EncodedPack,
  Job,
  OperationName,
  Operations,
  ParsedEdit,
  StagedSource,
} from './protocol.ts';
import {
  decodeManifest,
  encodeManifest,
  manifestOf,
  sha256Of,
  sourceSha256,
  totalBytes,
} from '../../trees/manifest.ts';
import type { Tree } from '../../trees/tree.ts';
import { buildPack, encodeIndex, type Blob } from '../../trees/pack.ts';
import { sortByPath } from '../../trees/paths.ts';
import { parseSkill } from './skill.ts';
import { parseTarGz } from './tar-import.ts';

interface Staged {
  changes: Change[];
  /** In order of their paths. */
  blobs: Blob[];
}

const staged = new Map<number, Staged>();
const commits = new Map<number, CommitReading>();

type Handlers = {
  [K in OperationName]: (
    input: Operations[K]['input'],
  ) => Operations[K]['output'] | Promise<Operations[K]['output']>;
};

const handlers: Handlers = {
  async parseImport({ handle, bytes, format }) {
    const bundle =
      format === 'application/json' ? parseJsonImport(bytes) : await parseTarGz(bytes, format.links);
    if (!bundle.ok) return bundle;
    if ('changes' in bundle) return stageChanges(handle, bundle);
    const { files, ...rest } = bundle;
    return { ...stageFiles(handle, files), ...rest };
  },

  parseEdit({ handle, bytes, limits }) {
    const edit = parseEdit(bytes, limits);
    return edit.ok ? stageChanges(handle, edit) : edit;
  },

  applyEdit({ handle, manifest, limits }): EditedSource | Refusal {
    const { changes } = find(handle);
    const result = applyChanges(decodeManifest(manifest), changes, limits);
    if (!result.ok) return result;
    const blobs = blobsOf(changes, result.manifest);
    staged.set(handle, { changes, blobs });
    return { ...describe(result.manifest), brought: blobs.map(({ sha256 }) => sha256) };
  },

  packBlobs({ handle, exclude }) {
    const { blobs } = find(handle);
    staged.delete(handle);
    const known = new Set(exclude);
    return pack(blobs.filter((b) => !known.has(b.sha256)));
  },

  parseSkill: ({ bytes, name }) => parseSkill(bytes, name),

  release({ handle }) {
    staged.delete(handle);
    commits.delete(handle);
    return null;
  },

  packContents({ blobs }) {
    for (const { sha256, bytes } of blobs)
      if (sha256Of(bytes) !== sha256) throw new ContentMismatch('a content is not what its hash says');
    return pack(blobs);
  },

  async openCommit({ handle, ...commit }) {
    const found = await CommitReading.open(commit);
    if ('ok' in found) return found;
    commits.set(handle, found.reading);
    return found.opened;
  },

  async readCommitPart({ handle, commit, part }) {
    const blobs = await findCommit(commit).read(part);
    staged.set(handle, { changes: [], blobs });
    return { ok: true, hashes: Buffer.from(blobs.map(({ sha256 }) => sha256).join(''), 'hex') };
  },

  closeCommit({ handle }) {
    const reading = findCommit(handle);
    commits.delete(handle);
    return describe(reading.tree());
  },
};

/** A content is not what its hash says. */
class ContentMismatch extends Error {
  readonly code = 'content_mismatch';
}

function find(handle: number): Staged {
  const found = staged.get(handle);
  if (!found) throw new Error('the contents were released');
  return found;
}

function findCommit(handle: number): CommitReading {
  const found = commits.get(handle);
  if (!found) throw new Error('the commit was released');
  return found;
}

function stageChanges(handle: number, { changes, ...edit }: Edit): ParsedEdit {
  staged.set(handle, { changes, blobs: [] });
  return edit;
}

function stageFiles(handle: number, files: BundleFile[]): StagedSource {
  sortByPath(files);
  staged.set(handle, { changes: [], blobs: files });
  return describe(
    manifestOf(
      files.map(({ path, sha256, bytes, executable }) => ({
        path,
        sha256,
        byteSize: bytes.length,
        executable,
      })),
    ),
  );
}

function describe(manifest: Tree): StagedSource {
  return {
    ok: true,
    manifest: encodeManifest(manifest),
    sourceSha256: sourceSha256(manifest),
    byteSize: totalBytes(manifest),
    fileCount: manifest.size,
  };
}

/** Contents that no later change removed, in order of their final paths. */
function blobsOf(changes: readonly Change[], manifest: Tree): Blob[] {
  const contents = new Map(
    changes.flatMap(({ content }) => (content ? [[content.sha256, content.bytes] as const] : [])),
  );
  return [...manifest.values()].flatMap(({ sha256 }) =>
    contents.has(sha256) ? [{ sha256, bytes: contents.get(sha256)! }] : [],
  );
}

function pack(blobs: Iterable<Blob>): EncodedPack {
  const { bytes, index } = buildPack(blobs);
  return { bytes, index: encodeIndex(index) };
}

/** Whole array buffers travel without a copy; views into a shared slab must not take it along. */
function ownBuffers(output: unknown): { output: unknown; transfer: Transferable[] } {
  if (typeof output !== 'object' || output === null) return { output, transfer: [] };
  const transfer: Transferable[] = [];
  const entries = Object.entries(output).map(([key, value]: [string, unknown]) => {
    if (!(value instanceof Uint8Array)) return [key, value];
    const own = value.byteLength === value.buffer.byteLength ? value : new Uint8Array(value);
    transfer.push(own.buffer as ArrayBuffer);
    return [key, new Uint8Array(own.buffer, 0, own.byteLength)];
  });
  return { output: Object.fromEntries(entries), transfer };
}

async function run({ id, operation, input }: Job): Promise<{ answer: Answer; transfer: Transferable[] }> {
  try {
    const { output, transfer } = ownBuffers(
      await (handlers[operation] as (input: unknown) => unknown)(input),
    );
    return { answer: { id, output }, transfer };
  } catch (error) {
    const { message, code } = error as Error & { code?: string };
    return { answer: { id, error: { message, code: code ?? null } }, transfer: [] };
  }
}

parentPort!.on('message', async (job: Job) => {
  const { answer, transfer } = await run(job);
  parentPort!.postMessage(answer, transfer);
});
