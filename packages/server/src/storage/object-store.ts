/**
 * Where bytes lie: S3 or a directory, behind one interface that knows no domain. Objects are immutable; a
 * key is written once.
 */
import type { Readable } from 'node:stream';

export interface ObjectInfo {
  key: string;
  byteSize: number;
  modifiedAt: Date;
}

export interface ObjectStore {
  /**
   * Stores whole or not at all; durable when it resolves. A stream is read to its end; one that fails
   * leaves no object.
   */
  put(key: string, content: Uint8Array | Readable): Promise<void>;
  /** Throws `ObjectNotFoundError`. */
  get(key: string): Promise<Buffer>;
  /**
   * The object's bytes as they come, for what need not fit in memory. Throws `ObjectNotFoundError` before
   * the first byte.
   */
  getStream(key: string): Promise<Readable>;
  /**
   * The bytes from `start` up to but not including `end`; fewer where the object ends. Throws
   * `ObjectNotFoundError`.
   */
  getRange(key: string, start: number, end: number): Promise<Buffer>;
  /** Null when there is no such object. */
  head(key: string): Promise<ObjectInfo | null>;
  /** Also resolves when there is no such object. */
  delete(key: string): Promise<void>;
  /** Every object whose key begins with the prefix, in no promised order. */
  list(prefix: string): AsyncIterable<ObjectInfo>;
  /** Removes what puts that were interrupted left, an hour after their last byte. */
  sweep(): Promise<void>;
  /** Rejects when objects cannot be written now; `StorageRefusesError` where rights are missing. */
  probe(): Promise<void>;
  /** Ends connections. */
  close(): void;
}

export class ObjectNotFoundError extends Error {
  override readonly name = 'ObjectNotFoundError';
}

/** The store cannot be used now: unreachable, full, forbidden. The cause says why, for the log. */
export class StorageUnavailableError extends Error {
  override readonly name = 'StorageUnavailableError';
}

const KEY = /^[A-Za-z0-9_][A-Za-z0-9._-]*(?:\/[A-Za-z0-9_][A-Za-z0-9._-]*)*$/;
const MAX_KEY = 512;

/**
 * Keys are made by the service from ids and hashes; anything else is a fault of the caller, and never
 * reaches a file system.
 */
export function assertKey(key: string): void {
  if (key.length > MAX_KEY || !KEY.test(key)) throw new TypeError('not a key of an object');
}

/** A prefix is what a key may begin with, or nothing. */
export function assertPrefix(prefix: string): void {
  if (prefix !== '') assertKey(`${prefix}x`);
}

/** The store refuses this service. The message is for anybody: it says what to grant or set. */
export class StorageRefusesError extends StorageUnavailableError {}
