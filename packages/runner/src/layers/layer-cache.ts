import { statfsSync } from 'node:fs';
import type { TreeKey } from '../protocol.ts';
import { memoryLoad } from '../sandbox/memory-load.ts';
import type { LayerView } from './layer-view.ts';

/** What a setup left, as a folder that is never written after it was made. */
export interface Layer extends TreeKey {
  folder: string;
  byteSize: number;
  entries: number;
  /** Trees that have it; a layer in use is never removed. */
  users: number;
  /** SHA-256 of its files that captures asked for, by path. */
  hashes: Map<string, string>;
  /** Its entries, once a copy was made of it. */
  view?: LayerView;
}

/** `lowMemory`: the share of free memory below which no unused layer is kept. */
interface LayerLimits {
  bytes: number;
  entries: number;
  lowMemory: number;
}

const GIBI = 1024 ** 3;
/** How long a new layer waits for the first tree that has it. */
const HELD_MS = 120_000;

/**
 * Eight gibibytes, or half of the file system where that is less: on most machines it lies in memory. An entry
 * takes a kibibyte of the kernel's memory, and some 300 bytes of this process's where layers are copied.
 */
export function layerLimits(folder: string): LayerLimits {
  const { blocks, bsize } = statfsSync(folder);
  return { bytes: Math.min(8 * GIBI, (blocks * bsize) / 2), entries: 1_000_000, lowMemory: 0.1 };
}

/** The layers that this runner keeps, by their keys; beyond its limits the least recently used ones are removed. */
export class LayerCache {
  readonly limits: LayerLimits;
  readonly #remove: (folder: string) => void;
  /** The least recently used first. */
  readonly #kept = new Map<string, Layer>();
  /** Those that wait for their first tree. */
  readonly #held = new Map<Layer, NodeJS.Timeout>();

  /** `remove` deletes a folder that nobody uses. */
  constructor(limits: LayerLimits, remove: (folder: string) => void) {
    this.limits = limits;
    this.#remove = remove;
  }

  /** The layer, taken into use: `release` gives it back. */
  take(key: string): Layer | undefined {
    const layer = this.#kept.get(key);
    if (!layer) return undefined;
    this.#kept.delete(key);
    this.#kept.set(key, layer);
    layer.users++;
    this.#letGo(layer);
    return layer;
  }

  /** Adds a new layer, and returns false where there is no room for it beside those in use. */
  add(made: Omit<Layer, 'users' | 'hashes' | 'view'>): boolean {
    const used = [...this.#kept.values()].filter(({ users }) => users > 0);
    if (this.#kept.has(made.key) || !this.#fits([...used, made])) return false;
    const layer = { ...made, users: 1, hashes: new Map<string, string>() };
    this.#held.set(layer, setTimeout(() => this.#letGo(layer), HELD_MS).unref());
    this.#kept.set(layer.key, layer);
    this.#trim();
    return true;
  }

  release(layer: Layer): void {
    layer.users--;
    if (layer.users === 0 && this.#kept.get(layer.key) !== layer) this.#remove(layer.folder);
    else this.#trim();
  }

  /** Keys of a project's layers, the most recently used first. */
  keys(group: string): string[] {
    return [...this.#kept.values()]
      .filter((layer) => layer.group === group)
      .map(({ key }) => key)
      .toReversed();
  }

  groups(): string[] {
    return [...this.#kept.values()].map(({ group }) => group);
  }

  /** Drops everything of a project; layers in use are removed when they are released. */
  forget(group: string): void {
    for (const layer of this.#kept.values()) {
      if (layer.group !== group) continue;
      this.#letGo(layer);
      this.#drop(layer);
    }
  }

  /** Drops all layers that nobody uses. */
  clear(): void {
    for (const layer of this.#kept.values()) if (layer.users === 0) this.#drop(layer);
  }

  #letGo(layer: Layer): void {
    const timer = this.#held.get(layer);
    if (!timer) return;
    clearTimeout(timer);
    this.#held.delete(layer);
    this.release(layer);
  }

  #trim(): void {
    for (const layer of this.#kept.values()) {
      if (this.#fits([...this.#kept.values()]) && !this.#isShort()) return;
      if (layer.users === 0) this.#drop(layer);
    }
  }

  #drop(layer: Layer): void {
    this.#kept.delete(layer.key);
    if (layer.users === 0) this.#remove(layer.folder);
  }

  #fits(layers: Pick<Layer, 'byteSize' | 'entries'>[]): boolean {
    const { bytes, entries } = this.limits;
    const sum = (of: 'byteSize' | 'entries'): number =>
      layers.reduce((before, layer) => before + layer[of], 0);
    return sum('byteSize') <= bytes && sum('entries') <= entries;
  }

  #isShort(): boolean {
    const { freeBytes, memoryBytes } = memoryLoad();
    return freeBytes < memoryBytes * this.limits.lowMemory;
  }
}
