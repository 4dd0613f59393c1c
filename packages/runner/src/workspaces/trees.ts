import { chmodSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { FIND_FORMAT } from './listing.ts';
import { SourceListing } from './source-listing.ts';
import { RunnerError } from '../errors.ts';
import type { Origin, TreeKey } from '../protocol.ts';
import { collect } from '../sandbox/collect.ts';
import { DEFAULT_LIMITS, WORKSPACE } from '../sandbox/driver.ts';
import { GUEST } from '../sandbox/guest.ts';
import { makeSandboxFolder, startSandbox, type Host } from '../sandbox/host.ts';
import { DependencyCache, dependencyLimits, hasDependencies } from './dependency-cache.ts';
import { discard } from './discard.ts';
import { FRESH_PATCH, freshPatch } from './fresh-patch.ts';
import { mountAgain, mountOverlay, probeOverlay } from './overlay.ts';
import type { Over, Tree } from './tree.ts';
import { defaultLimits, TreeCache, type CacheLimits, type SourceTree } from './tree-cache.ts';

const TRANSFER_TIMEOUT_MS = 120_000;
const LISTING_BYTES = 64 * 1024 ** 2;
/**
 * GNU tar inside a sandbox: unpacks 10,000 files in a third of the time of writes from here, off the event
 * loop, and no path can lead out.
 */
const UNTAR = 'umask 022; tar -xf - --no-same-owner --delay-directory-restore';

/** How the kernel, Node and tar (of a file that fits in part) report a full file system. */
const FULL = /no space left|ENOSPC|wrote only/i;

/** Makes, fills, changes and removes trees. All contents are read and written inside sandboxes. */
export class Trees {
  readonly #host: Host;
  readonly #cache: TreeCache;
  readonly dependencies: DependencyCache;
  #counter = 0;
  #canOverlay: Promise<boolean> | undefined;
  /** How a known source is restored; undefined until it was tried. */
  restore: 'overlay' | 'copy' | undefined;

  constructor(
    host: Host,
    limits: CacheLimits = defaultLimits(host.base),
    ofDependencies = dependencyLimits(host.base),
  ) {
    this.#host = host;
    this.#cache = new TreeCache(limits, (folder) => discard(folder));
    this.dependencies = new DependencyCache(ofDependencies, (folder) => discard(folder));
  }

  /**
   * A new tree, empty or with these files (regular ones). Throws `invalid_tar` 400; `not_cached` 404 where
   * its base is not kept; `no_space` 503: try again.
   */
  make(name: string, tar?: Readable, origin: Origin = {}): Promise<Tree> {
    return this.#withRoom(() => this.#make(name, tar, origin));
  }

  async #make(name: string, tar: Readable | undefined, { keep, base, warm }: Origin): Promise<Tree> {
    if (base !== undefined) return this.#over(name, this.#cache.take(base), warm, tar);
    if (tar && keep && (await this.probe())) return this.#over(name, await this.#keep(keep, tar), warm);
    const tree = this.#plain(name);
    if (tar)
      await this.#feed(tree, ['/bin/sh', '-c', UNTAR], tar).catch((error: unknown) => {
        this.remove(tree);
        throw error;
      });
    return tree;
  }

  /**
   * Deletes and writes what the tar says (protocol: POST /workspaces/:id/patch). Throws `invalid_tar` 400,
   * `no_space` 503.
   */
  async patch(tree: Tree, tar: Readable): Promise<void> {
    await this.#withRoom(() => this.#feed(tree, ['node', `${GUEST}/patch-tree.cjs`], tar));
  }

  /** Removes the tree at once; its files are deleted in the background. No task may live in it. */
  remove({ folder, over }: Tree): void {
    if (!over) {
      discard(folder);
      return;
    }
    // Released only when the mount is gone; a mount that stays is removed with the runner.
    discard(over.overlay.folder, '[ ! -d "$1/merged" ] || /bin/umount -n -l -- "$1/merged"', () => {
      this.#cache.release(over.source);
      if (over.dependencies) this.dependencies.release(over.dependencies);
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
    return [...new Set([...this.#cache.groups(), ...this.dependencies.groups()])];
  }

  /** Drops what is kept for a project and not in use. */
  forget(group: string): void {
    this.#cache.forget(group);
    this.dependencies.forget(group);
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
    return { folder, bind: binder(folder) };
  }

  async #over(
    name: string,
    source: SourceTree | undefined,
    warm?: Origin['warm'],
    patch?: Readable,
  ): Promise<Tree> {
    if (!source) throw new RunnerError(404, 'not_cached', 'No tree is kept under this key.');
    // A patch would cover the source's own files in that folder along with what strangers put there.
    const dependencies = warm && !hasDependencies(source) ? this.dependencies.take(warm) : undefined;
    const lowers = [...(dependencies ? [dependencies.folder] : []), source.folder];
    const overlay = await mountOverlay(this.#host, this.#unique(name), lowers).catch((error: unknown) => {
      this.#cache.release(source);
      if (dependencies) this.dependencies.release(dependencies);
      throw error;
    });
    const over: Over = { source, overlay, lowers, group: warm?.group, runtime: warm?.runtime, dependencies };
    const bind = binder(overlay.merged);
    const tree: Tree = {
      folder: overlay.upper,
      bind: (how) => {
        mountAgain(overlay, over.lowers);
        return bind(how);
      },
      over,
    };
    if (patch)
      await this.#patchFresh(tree, patch).catch((error: unknown) => {
        this.remove(tree);
        throw error;
      });
    return tree;
  }

  async #patchFresh(tree: Tree, patch: Readable): Promise<void> {
    await this.#feed(tree, ['/bin/sh', '-c', FRESH_PATCH], await freshPatch(patch));
  }

  async #keep(key: TreeKey, tar: Readable): Promise<SourceTree> {
    const { folder, bind } = this.#plain(`${key.key}.source`);
    try {
      const listing = new SourceListing(
        await this.#feed(
          { bind },
          ['/bin/sh', '-c', `${UNTAR} && exec find . -mindepth 1 -printf '${FIND_FORMAT}'`],
          tar,
        ),
      );
      if (!listing.isPlain)
        throw new RunnerError(400, 'invalid_tar', 'The archive holds other things than regular files.');
      return this.#cache.add({ ...key, folder, listing });
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
      this.dependencies.clear();
      throw new RunnerError(503, 'no_space', (error as Error).message);
    }
  }

  #unique(name: string): string {
    return `${name}.${++this.#counter}`;
  }

  /** Runs the command with the tar as its stdin; returns its stdout. */
  async #feed(tree: Pick<Tree, 'bind'>, command: string[], tar: Readable): Promise<Buffer> {
    // A stream that already broke off emits no further event.
    if (tar.destroyed) throw new RunnerError(400, 'invalid_tar', 'The archive was cut off.');
    const sandbox = startSandbox(this.#host, {
      command,
      binds: [tree.bind({ readOnly: false })],
      limits: DEFAULT_LIMITS,
    });
    // A body that breaks off must not look complete.
    tar.once('error', () => void sandbox.kill().catch(() => {}));
    tar.pipe(sandbox.stdin);
    const { code, stdout, stderr } = await collect(sandbox, {
      maxBytes: LISTING_BYTES,
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

function binder(folder: string): Tree['bind'] {
  return ({ readOnly }) => {
    // An agent may have closed it, and then no sandbox could enter it.
    chmodSync(folder, 0o700);
    return { host: folder, inside: WORKSPACE, readOnly };
  };
}
