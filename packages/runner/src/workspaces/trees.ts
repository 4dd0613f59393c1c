import { chmodSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { bytesOf, FIND_FORMAT, parseListings } from './listing.ts';
import { linksOf, SourceListing } from './source-listing.ts';
import { RunnerError } from '../errors.ts';
import { CONTEXT_FOLDER, LAYER_LISTING_BYTES } from '../protocol.ts';
import type { Origin, TreeKey } from '../protocol.ts';
import { collect } from '../sandbox/collect.ts';
import { DEFAULT_LIMITS, WORKSPACE, type Bind } from '../sandbox/driver.ts';
import { GUEST } from '../sandbox/guest.ts';
import { makeSandboxFolder, startSandbox, type Host } from '../sandbox/host.ts';
import { LayerCache, layerLimits, type Layer } from '../layers/layer-cache.ts';
import { LAYER, layerBind, CopyView, LayerView, LIST_DEPENDENCIES } from '../layers/layer-view.ts';
import { trimLayer } from '../layers/trim-layer.ts';
import { discard } from './discard.ts';
import { FRESH_PATCH, freshPatch, patchAsIs } from './fresh-patch.ts';
import { mountAgain, mountOverlay, probeOverlay } from './overlay.ts';
import { SentTrees } from './sent-trees.ts';
import type { Over, Tree } from './tree.ts';
import { defaultLimits, TreeCache, type CacheLimits, type SourceTree } from './tree-cache.ts';

const TRANSFER_TIMEOUT_MS = 120_000;
/** How long what was sent waits for the request that uses it. */
const SENT_HELD_MS = TRANSFER_TIMEOUT_MS;
const LISTING_BYTES = 64 * 1024 ** 2;
/** Beside the source, a tree over a layer lists the layer, and folders of either. */
const LAYERED_BYTES = LISTING_BYTES + 2 * LAYER_LISTING_BYTES;
/**
 * GNU tar inside a sandbox: unpacks 10,000 files in a third of the time of writes from here, off the event
 * loop, and no path can lead out.
 */
const UNTAR = 'umask 022; tar -xf - --no-same-owner --delay-directory-restore';
const LIST = `find . -mindepth 1 -printf '${FIND_FORMAT}'`;
/** Where a sandbox that copies a history finds it. */
const HISTORY = '/run/headrace-history';
const NO_LINKS: ReadonlyMap<string, string> = new Map();

/**
 * How the kernel, tar (of a file that fits in part) and Node report a full file system: at an end or a beginning
 * of a line, where no path is. A sandbox's stderr names paths, which are others' to choose.
 */
const FULL =
  /: (?:No space left on device\.?|Wrote only \d+ of \d+ bytes)$|^(?:(?:Uncaught )?Error: )?ENOSPC: no space/m;

/** What a turn sees at CONTEXT_FOLDER. */
export interface TakenContext {
  bind: Bind;
  isEmpty: boolean;
  /** Idempotent. */
  release(): void;
}

/** Makes, fills, changes and removes trees. All contents are read and written inside sandboxes. */
export class Trees {
  readonly #host: Host;
  readonly #cache: TreeCache;
  readonly #histories: SentTrees;
  readonly #contexts: SentTrees;
  #noContext: string | undefined;
  readonly layers: LayerCache;
  #counter = 0;
  #canOverlay: Promise<boolean> | undefined;
  /** How a known source is restored; undefined until it was tried. */
  restore: 'overlay' | 'copy' | undefined;

  constructor(host: Host, limits: CacheLimits = defaultLimits(host.base), ofLayers = layerLimits(host.base)) {
    this.#host = host;
    this.#cache = new TreeCache(limits, (folder) => discard(folder));
    this.#histories = new SentTrees(limits, (folder) => discard(folder), SENT_HELD_MS);
    this.#contexts = new SentTrees(limits, (folder) => discard(folder), SENT_HELD_MS);
    this.layers = new LayerCache(ofLayers, (folder) => discard(folder));
  }

  /**
   * A new tree, empty or with these files. Throws `invalid_tar` 400; `no_layer` 404 where its layer is not
   * kept, `not_cached` 404 where its base is not, `no_history` 404 where its history is not; `no_space` 503:
   * try again.
   */
  make(name: string, tar?: Readable, origin: Origin = {}): Promise<Tree> {
    return this.#withRoom(() => this.#make(name, tar, origin));
  }

  async #make(name: string, tar: Readable | undefined, origin: Origin): Promise<Tree> {
    const layer = origin.layer === undefined ? undefined : this.layers.take(origin.layer);
    if (origin.layer !== undefined && !layer)
      throw new RunnerError(404, 'no_layer', 'No layer is kept under this key.');
    const history = origin.history === undefined ? undefined : this.#histories.take(origin.history);
    const release = (): void => {
      if (layer) this.layers.release(layer);
      if (history) this.#histories.release(history);
    };
    try {
      if (origin.history !== undefined && !history)
        throw new RunnerError(404, 'no_history', 'No history is kept under this key.');
      const tree = await this.#fill(name, tar, origin, { layer, history });
      // A copy of the history needs it no more.
      if (history && !tree.over) this.#histories.release(history);
      if (origin.history !== undefined) this.#histories.letGo(origin.history);
      return tree;
    } catch (error) {
      release();
      throw error;
    }
  }

  async #fill(name: string, tar: Readable | undefined, { keep, base }: Origin, below: Below): Promise<Tree> {
    if (base !== undefined) return this.#over(name, this.#cache.take(base), below, tar);
    if (tar && keep && (await this.probe()))
      return this.#over(name, this.#cache.add(await this.#unpackKept(keep, tar)), below);
    const tree: Tree = { ...this.#plain(name), hasHistory: below.history !== undefined, layer: below.layer };
    if (!tar) return tree;
    try {
      return { ...tree, ...(await this.#unpack(tree, tar, below)) };
    } catch (error) {
      discard(tree.folder);
      throw error;
    }
  }

  /** Unpacks the files, with copies of the layer and the history. */
  async #unpack(
    tree: Tree,
    tar: Readable,
    { layer, history }: Below,
  ): Promise<Pick<Tree, 'links' | 'placed' | 'sourcePaths'>> {
    const binds = [tree.bind({ readOnly: false })];
    const steps = [UNTAR];
    if (layer ?? history) steps.push(LIST);
    if (layer) {
      binds.push(layerBind(layer));
      steps.push(
        `printf '\\0'`,
        `node ${GUEST}/place-layer.cjs ${LAYER}`,
        LIST_DEPENDENCIES,
        ...(layer.view ? [] : [`printf '\\0'`, `(cd ${LAYER} && ${LIST})`]),
      );
    }
    if (history) {
      binds.push({ host: history.folder, inside: HISTORY, readOnly: true });
      steps.push(`cp -R ${HISTORY}/.git .`);
    }
    const maxBytes = layer ? LAYERED_BYTES : LISTING_BYTES;
    const listed = await this.#feed(binds, steps.join(' && '), tar, maxBytes);
    if (!layer && !history) return { links: NO_LINKS };
    const [source = [], folders = [], ofLayer = []] = parseListings(listed);
    return {
      links: linksOf(source),
      ...(layer && {
        placed: new CopyView((layer.view ??= new LayerView(ofLayer)), folders),
        sourcePaths: source.flatMap(({ kind, path }) => (kind === 'file' ? path : [])),
      }),
    };
  }

  /** A new tree of these files alone, and their paths, with one character per byte. Throws as `make` does. */
  makeScratch(name: string, tar: Readable): Promise<{ tree: Tree; given: string[] }> {
    return this.#withRoom(async () => {
      const tree = this.#plain(name);
      try {
        const bind = tree.bind({ readOnly: false });
        const { entries } = new SourceListing(await this.#feed([bind], `${UNTAR} && ${LIST}`, tar));
        return { tree, given: entries.filter(({ kind }) => kind !== 'folder').map(bytesOf) };
      } catch (error) {
        discard(tree.folder);
        throw error;
      }
    });
  }

  /**
   * Keeps what a setup has left in such a tree as a layer, beside the files that it was given. The tree is gone
   * then. Returns the layer's size. Throws as `trimLayer` does, and leaves the tree; `no_space` 503 where the
   * layers in use leave no room.
   */
  async keepLayer(
    key: TreeKey,
    { tree, given }: { tree: Tree; given: string[] },
    signal: AbortSignal,
  ): Promise<number> {
    const mostBytes = this.layers.limits.bytes;
    const bind = tree.bind({ readOnly: false });
    const { byteSize, entries } = await trimLayer(this.#host, { bind, given, mostBytes }, signal);
    signal.throwIfAborted();
    if (!this.layers.add({ ...key, folder: tree.folder, byteSize, entries }))
      throw new RunnerError(503, 'no_space', 'The layers in use leave no room for this one.');
    return byteSize;
  }

  /** Keeps the `.git` of a commit for the workspaces of a project. Throws `invalid_tar` 400, `no_space` 503. */
  async keepHistory(key: TreeKey, tar: Readable): Promise<void> {
    this.#histories.add(await this.#withRoom(() => this.#unpackKept(key, tar)));
  }

  /** Keeps a folder for the turns of a project; one that is here already is not read again. Throws `invalid_tar` 400, `no_space` 503. */
  async keepContext(key: TreeKey, tar: Readable): Promise<void> {
    if (this.#contexts.holdKept(key.key)) {
      tar.resume();
      return;
    }
    this.#contexts.add(await this.#withRoom(() => this.#unpackKept(key, tar)));
  }

  /**
   * The kept folder, in use until `release`; without a key an empty one. Throws `no_context` 404 when it is not
   * kept.
   */
  takeContext(key: string | undefined): TakenContext {
    if (key === undefined) {
      this.#noContext ??= makeSandboxFolder(this.#host, this.#unique('no.context'));
      return { bind: contextBind(this.#noContext), isEmpty: true, release: () => {} };
    }
    const context = this.#contexts.take(key);
    if (!context) throw new RunnerError(404, 'no_context', 'No context is kept under this key.');
    this.#contexts.letGo(key);
    let isReleased = false;
    return {
      bind: contextBind(context.folder),
      isEmpty: false,
      release: () => {
        if (!isReleased) this.#contexts.release(context);
        isReleased = true;
      },
    };
  }

  /**
   * Deletes and writes what the tar says (protocol: POST /workspaces/:id/patch). Throws `invalid_tar` 400,
   * `no_space` 503.
   */
  async patch(tree: Tree, tar: Readable): Promise<void> {
    await this.#withRoom(() => this.#patch(tree, tar));
  }

  /** Also notes the links that the tree has then, where the patch says so. */
  async #patch(tree: Tree, tar: Readable): Promise<void> {
    const { stream, links } = await patchAsIs(tar);
    const binds = [tree.bind({ readOnly: false })];
    let script = `exec node ${GUEST}/patch-tree.cjs`;
    if (tree.layer) {
      binds.push(layerBind(tree.layer));
      script += ` ${LAYER}`;
    }
    const written = await this.#feed(binds, script, stream);
    if (links) tree.links = links;
    if (!tree.layer) return;
    const paths = written.toString().split('\0').slice(0, -1);
    tree.sourcePaths = [...new Set([...(tree.sourcePaths ?? []), ...paths])];
  }

  /** Removes the tree at once; its files are deleted in the background. No task may live in it. */
  remove({ folder, over, layer }: Tree): void {
    const release = (): void => {
      if (layer) this.layers.release(layer);
    };
    if (!over) {
      discard(folder);
      release();
      return;
    }
    // Released only when the mount is gone; a mount that stays is removed with the runner.
    discard(over.overlay.folder, '[ ! -d "$1/merged" ] || /bin/umount -n -l -- "$1/merged"', () => {
      this.#cache.release(over.source);
      release();
      if (over.history) this.#histories.release(over.history);
    });
  }

  /** Keys of the kept trees of a project, the most recently used first. */
  kept(group: string): string[] {
    return this.#cache.keys(group);
  }

  /** Keeps a source tree in use while `work` runs. */
  async whileUsed<T>(source: SourceTree, work: () => Promise<T>): Promise<T> {
    source.users++;
    try {
      return await work();
    } finally {
      this.#cache.release(source);
    }
  }

  /** Projects for which anything is kept. */
  groups(): string[] {
    return [
      ...new Set(
        [this.#cache, this.#histories, this.#contexts, this.layers].flatMap((kept) => kept.groups()),
      ),
    ];
  }

  /** Drops what is kept for a project and not in use. */
  forget(group: string): void {
    this.#cache.forget(group);
    this.#histories.forget(group);
    this.#contexts.forget(group);
    this.layers.forget(group);
  }

  /** Whether kept trees can be mounted here: tried once, as soon as there is a driver. */
  async probe(): Promise<boolean> {
    if (!this.#host.driver) return false;
    const can = await (this.#canOverlay ??= probeOverlay(this.#host));
    this.restore = can ? 'overlay' : 'copy';
    return can;
  }

  #plain(name: string): Tree {
    const folder = makeSandboxFolder(this.#host, this.#unique(name));
    return { folder, bind: binder(folder), links: NO_LINKS, hasHistory: false };
  }

  async #over(
    name: string,
    source: SourceTree | undefined,
    { layer, history }: Below,
    patch?: Readable,
  ): Promise<Tree> {
    if (!source) throw new RunnerError(404, 'not_cached', 'No tree is kept under this key.');
    const lowers = [history?.folder, source.folder, layer?.folder].filter((one) => one !== undefined);
    const overlay = await mountOverlay(this.#host, this.#unique(name), lowers).catch((error: unknown) => {
      this.#cache.release(source);
      throw error;
    });
    const over: Over = { source, overlay, lowers, history };
    const bind = binder(overlay.merged);
    const tree: Tree = {
      folder: overlay.upper,
      bind: (how) => {
        mountAgain(overlay, over.lowers);
        return bind(how);
      },
      links: source.listing.links,
      hasHistory: history !== undefined,
      layer,
      over,
    };
    if (!patch) return tree;
    try {
      await this.#patchFresh(tree, patch);
      return tree;
    } catch (error) {
      // Kept until it is unmounted, after the caller has given them back.
      if (layer) layer.users++;
      if (history) history.users++;
      this.remove(tree);
      throw error;
    }
  }

  /** As `#patch`, on a tree that nobody has touched. */
  async #patchFresh(tree: Tree, patch: Readable): Promise<void> {
    // The layer may have anything at its paths, links too.
    if (tree.layer) return this.#patch(tree, patch);
    const { stream, links } = await freshPatch(patch);
    await this.#feed([tree.bind({ readOnly: false })], FRESH_PATCH, stream);
    if (links) tree.links = links;
  }

  async #unpackKept(key: TreeKey, tar: Readable): Promise<Omit<SourceTree, 'users'>> {
    const { folder, bind } = this.#plain(`${key.key}.source`);
    try {
      const listing = new SourceListing(
        await this.#feed([bind({ readOnly: false })], `${UNTAR} && ${LIST}`, tar),
      );
      if (!listing.isPlain)
        throw new RunnerError(
          400,
          'invalid_tar',
          'The archive holds other things than regular files and symbolic links.',
        );
      return { ...key, folder, listing };
    } catch (error) {
      discard(folder);
      throw error;
    }
  }

  /** On a full file system, drops everything kept and unused to make room for the next try. */
  async #withRoom<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (!FULL.test((error as Error).message)) throw error;
      this.#cache.clear();
      this.#histories.clear();
      this.#contexts.clear();
      this.layers.clear();
      throw new RunnerError(503, 'no_space', (error as Error).message);
    }
  }

  #unique(name: string): string {
    return `${name}.${++this.#counter}`;
  }

  /** Runs a shell script with the tar as its stdin; returns its stdout. */
  async #feed(binds: Bind[], script: string, tar: Readable, maxBytes = LISTING_BYTES): Promise<Buffer> {
    // A stream that already broke off emits no further event.
    if (tar.destroyed) throw new RunnerError(400, 'invalid_tar', 'The archive was cut off.');
    const sandbox = startSandbox(this.#host, {
      command: ['/bin/sh', '-c', script],
      binds,
      limits: DEFAULT_LIMITS,
    });
    // A body that breaks off must not look complete.
    tar.once('error', () => void sandbox.kill().catch(() => {}));
    tar.pipe(sandbox.stdin);
    const { code, stdout, stderr } = await collect(sandbox, {
      maxBytes,
      timeoutMs: TRANSFER_TIMEOUT_MS,
    });
    if (tar.errored) throw new RunnerError(400, 'invalid_tar', 'The archive was cut off.');
    if (code !== 0)
      throw new RunnerError(
        400,
        'invalid_tar',
        `The archive could not be written: ${stderr.trim().slice(0, 500)}`,
      );
    return stdout;
  }
}

/** What a tree gets beside its source. */
interface Below {
  layer?: Layer | undefined;
  history?: SourceTree | undefined;
}

const contextBind = (host: string): Bind => ({ host, inside: CONTEXT_FOLDER, readOnly: true });

function binder(folder: string): Tree['bind'] {
  return ({ readOnly }) => {
    // An agent may have closed it, and then no sandbox could enter it.
    chmodSync(folder, 0o700);
    return { host: folder, inside: WORKSPACE, readOnly };
  };
}
