import type { GetObjectCommandOutput, S3Client } from '@aws-sdk/client-s3';
import { buffer } from 'node:stream/consumers';
import type { Readable } from 'node:stream';
import {
  ObjectNotFoundError,
  StorageUnavailableError,
  assertKey,
  assertPrefix,
  type ObjectInfo,
  type ObjectStore,
} from './object-store.ts';

interface S3Options {
  bucket: string;
  region: string;
  /** Of a compatible service; null means AWS. */
  endpoint: string | null;
  /** Null: the SDK's own chain (environment, instance role). */
  credentials: { accessKeyId: string; secretAccessKey: string } | null;
  /** Bucket in the path instead of the host name; most compatible services need it. */
  forcePathStyle: boolean;
}

const CONNECT_TIMEOUT_MS = 5_000;
/**
 * Without a byte; until the answer begins, however slowly the request goes. By default the SDK only warns.
 */
const IDLE_TIMEOUT_MS = 30_000;
const ANSWER_TIMEOUT_MS = 120_000;
const ATTEMPTS = 3;

type Sdk = typeof import('@aws-sdk/client-s3');

/**
 * Objects in a bucket. The SDK is loaded here and not before: it costs 150 ms and 40 MB that a local store
 * need not pay.
 */
export async function createS3Store(options: S3Options): Promise<ObjectStore> {
  const sdk = await import('@aws-sdk/client-s3');
  const client = new sdk.S3Client({
    region: options.region,
    forcePathStyle: options.forcePathStyle,
    maxAttempts: ATTEMPTS,
    requestHandler: {
      connectionTimeout: CONNECT_TIMEOUT_MS,
      socketTimeout: IDLE_TIMEOUT_MS,
      requestTimeout: ANSWER_TIMEOUT_MS,
      throwOnRequestTimeout: true,
    },
    // The SDK's default checksums wrap streamed bodies in a chunk format that compatible services store as
    // content.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    ...(options.endpoint ? { endpoint: options.endpoint } : {}),
    ...(options.credentials ? { credentials: options.credentials } : {}),
  });
  return new S3Store(sdk, client, options.bucket);
}

class S3Store implements ObjectStore {
  readonly #sdk: Sdk;
  readonly #client: S3Client;
  readonly #bucket: string;

  constructor(sdk: Sdk, client: S3Client, bucket: string) {
    this.#sdk = sdk;
    this.#client = client;
    this.#bucket = bucket;
  }

  /**
   * A stream is gathered first: S3 wants the length before the content, and a retry wants the content
   * again.
   */
  async put(key: string, content: Uint8Array | Readable): Promise<void> {
    const at = this.#at(key);
    const body = content instanceof Uint8Array ? content : await buffer(content);
    await this.#call(() =>
      this.#client.send(
        new this.#sdk.PutObjectCommand({ ...at, Body: body, ContentLength: body.byteLength }),
      ),
    );
  }

  async get(key: string): Promise<Buffer> {
    return this.#bytes(await this.#fetch(key));
  }

  async getStream(key: string): Promise<Readable> {
    return (await this.#fetch(key)).Body as Readable;
  }

  async getRange(key: string, start: number, end: number): Promise<Buffer> {
    if (end <= start) return Buffer.alloc(0);
    try {
      return await this.#bytes(await this.#fetch(key, `bytes=${start}-${end - 1}`));
    } catch (error) {
      if (isRangeBeyondEnd(error)) return Buffer.alloc(0);
      throw error;
    }
  }

  async head(key: string): Promise<ObjectInfo | null> {
    const at = this.#at(key);
    try {
      const { ContentLength, LastModified } = await this.#call(() =>
        this.#client.send(new this.#sdk.HeadObjectCommand(at)),
      );
      return { key, byteSize: ContentLength ?? 0, modifiedAt: LastModified ?? new Date(0) };
    } catch (error) {
      if (error instanceof ObjectNotFoundError) return null;
      throw error;
    }
  }

  async delete(key: string): Promise<void> {
    const at = this.#at(key);
    await this.#call(() => this.#client.send(new this.#sdk.DeleteObjectCommand(at))).catch((error) => {
      if (!(error instanceof ObjectNotFoundError)) throw error;
    });
  }

  async *list(prefix: string): AsyncIterable<ObjectInfo> {
    assertPrefix(prefix);
    let token: string | undefined;
    do {
      const page = await this.#call(() =>
        this.#client.send(
          new this.#sdk.ListObjectsV2Command({
            Bucket: this.#bucket,
            Prefix: prefix,
            ContinuationToken: token,
          }),
        ),
      );
      for (const { Key, Size, LastModified } of page.Contents ?? [])
        if (Key !== undefined)
          yield { key: Key, byteSize: Size ?? 0, modifiedAt: LastModified ?? new Date(0) };
      token = page.NextContinuationToken;
    } while (token !== undefined);
  }

  /** A put is one request: it leaves an object or nothing. */
  async sweep(): Promise<void> {}

  async probe(): Promise<void> {
    await this.#call(() =>
      this.#client.send(new this.#sdk.HeadBucketCommand({ Bucket: this.#bucket })),
    ).catch((error) => {
      throw error instanceof ObjectNotFoundError
        ? new StorageUnavailableError('there is no such bucket', { cause: error })
        : error;
    });
  }

  close(): void {
    this.#client.destroy();
  }

  #at(key: string): { Bucket: string; Key: string } {
    assertKey(key);
    return { Bucket: this.#bucket, Key: key };
  }

  async #fetch(key: string, range?: string): Promise<GetObjectCommandOutput> {
    const at = this.#at(key);
    return this.#call(() =>
      this.#client.send(new this.#sdk.GetObjectCommand({ ...at, ...(range ? { Range: range } : {}) })),
    );
  }

  async #bytes(output: GetObjectCommandOutput): Promise<Buffer> {
    return buffer(output.Body as Readable).catch((error) => {
      throw new StorageUnavailableError('an object could not be read to its end', { cause: error });
    });
  }

  async #call<T>(send: () => Promise<T>): Promise<T> {
    try {
      return await send();
    } catch (error) {
      if (statusOf(error) === 404 && (error as Error).name !== 'NoSuchBucket')
        throw new ObjectNotFoundError('there is no such object', { cause: error });
      throw new StorageUnavailableError('the object storage did not serve a request', { cause: error });
    }
  }
}

function statusOf(error: unknown): number | undefined {
  return (error as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode;
}

function isRangeBeyondEnd(error: unknown): boolean {
  return error instanceof StorageUnavailableError && statusOf(error.cause) === 416;
}
