/** The store that a configuration names. */
import { join } from 'node:path';
import type { Config } from '../config.ts';
import { createLocalStore, openLocalStore } from './local-store.ts';
import type { ObjectStore } from './object-store.ts';
import { PATIENT_S3_LIMITS, S3_LIMITS } from './s3-attempts.ts';
import { PROBES } from './s3-probe.ts';
import { createS3Store } from './s3-store.ts';

/** What checks what is stored: it never writes. */
export type ReadableStore = Pick<ObjectStore, 'get' | 'getRange' | 'getStream' | 'head' | 'list' | 'close'>;

type Where = Pick<Config, 'dataDir' | 's3'>;
type Bucket = NonNullable<Where['s3']>;

const folderOf = ({ dataDir }: Where) => join(dataDir, 'objects');
const bucketOf = (s3: Bucket, limits = S3_LIMITS) =>
  createS3Store({ ...s3, credentials: null, forcePathStyle: s3.endpoint !== null }, limits);

/** Makes more attempts; but a bucket that is away at the start, or named wrongly, is told of sooner. */
async function patientBucket(s3: Bucket): Promise<ObjectStore> {
  const first = await bucketOf(s3);
  try {
    await first.head(`${PROBES}none`);
  } finally {
    first.close();
  }
  return bucketOf(s3, PATIENT_S3_LIMITS);
}

export function openStore(config: Where): Promise<ObjectStore> {
  return config.s3 ? bucketOf(config.s3) : createLocalStore(folderOf(config));
}

/** For commands that write everything. Throws `StorageUnavailableError`. */
export function openStoreForAll(config: Where): Promise<ObjectStore> {
  return config.s3 ? patientBucket(config.s3) : createLocalStore(folderOf(config));
}

/**
 * For commands that read everything. Makes nothing: a folder that is missing is `StorageUnavailableError`, now or at the first
 * reading.
 */
export function openStoreForReading(config: Where): Promise<ReadableStore> {
  return config.s3 ? patientBucket(config.s3) : openLocalStore(folderOf(config));
}
