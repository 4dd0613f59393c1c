/** The store that a configuration names. */
import { join } from 'node:path';
import type { Config } from '../config.ts';
import { createLocalStore, openLocalStore } from './local-store.ts';
import type { ObjectStore } from './object-store.ts';
import { createS3Store } from './s3-store.ts';

/** What checks what is stored: it never writes. */
export type ReadableStore = Pick<ObjectStore, 'get' | 'getRange' | 'getStream' | 'head' | 'list' | 'close'>;

type Where = Pick<Config, 'dataDir' | 's3'>;

const folderOf = ({ dataDir }: Where) => join(dataDir, 'objects');
const bucketOf = (s3: NonNullable<Where['s3']>) =>
  createS3Store({ ...s3, credentials: null, forcePathStyle: s3.endpoint !== null });

export function openStore(config: Where): Promise<ObjectStore> {
  return config.s3 ? bucketOf(config.s3) : createLocalStore(folderOf(config));
}

/** Makes nothing: a folder that is missing is `StorageUnavailableError`, now or at the first reading. */
export function openStoreForReading(config: Where): Promise<ReadableStore> {
  return config.s3 ? bucketOf(config.s3) : openLocalStore(folderOf(config));
}
