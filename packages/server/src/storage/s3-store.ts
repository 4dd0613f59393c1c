import type { GetObjectCommandInput, GetObjectCommandOutput, S3Client } from '@aws-sdk/client-s3';
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
import { attempted, S3_LIMITS, statusOf, type S3Limits } from './s3-attempts.ts';
import { continuedStream, md5Of, MD5_METADATA, rangeBody, wholeBody } from './s3-bodies.ts';
import { Probe, PROBES } from './s3-probe.ts';

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

const STALE_PROBE_MS = 60 * 60 * 1000;

type Sdk = typeof import('@aws-sdk/client-s3');

/**
 * Objects in a bucket. The SDK is loaded here and not before: it costs 150 ms and 40 MB that a local store
 * need not pay.
 */
export async function createS3Store(options: S3Options, limits: S3Limits = S3_LIMITS): Promise<ObjectStore> {
  const sdk = await import('@aws-sdk/client-s3');
  const client = new sdk.S3Client({
    region: options.region,
    forcePathStyle: options.forcePathStyle,
    // s3-attempts.ts repeats: the SDK would not read an answer again that was cut.
    maxAttempts: 1,
    requestHandler: {
      connectionTimeout: limits.connectMs,
      socketTimeout: limits.idleMs,
      requestTimeout: limits.attemptMs,
      throwOnRequestTimeout: true,
    },
    // A connection of its own for each larger put.
    expectContinueHeader: false,
    // The SDK's default checksums are refused by some compatible services, ignored by others, and wrap streamed bodies
    // in a chunk format that some store as content. All check Content-MD5.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    ...(options.endpoint ? { endpoint: options.endpoint } : {}),
    ...(options.credentials ? { credentials: options.credentials } : {}),
  });
  return new S3Store(sdk, client, { bucket: options.bucket, limits });
}

class S3Store implements ObjectStore {
  readonly #sdk: Sdk;
  readonly #client: S3Client;
  readonly #bucket: string;
  readonly #limits: S3Limits;
  readonly #closed = new AbortController();
  readonly #probe = new Probe(this);

  constructor(sdk: Sdk, client: S3Client, { bucket, limits }: { bucket: string; limits: S3Limits }) {
    this.#sdk = sdk;
    this.#client = client;
    this.#bucket = bucket;
    this.#limits = limits;
  }

  /**
   * One request, never in parts and without conditions, which compatible services differ in. A stream is gathered first:
   * S3 wants the length before the content, and a retry wants the content again.
   */
  async put(key: string, content: Uint8Array | Readable): Promise<void> {
    const at = this.#at(key);
    const body = content instanceof Uint8Array ? content : await buffer(content);
    const md5 = md5Of(body).digest();
    await this.#call((abortSignal) =>
      this.#client.send(
        new this.#sdk.PutObjectCommand({
          ...at,
          Body: body,
          ContentLength: body.byteLength,
          ContentMD5: md5.toString('base64'),
          Metadata: { [MD5_METADATA]: md5.toString('hex') },
        }),
        { abortSignal },
      ),
    );
  }

  async get(key: string): Promise<Buffer> {
    const at = this.#at(key);
    return this.#call(async (signal) => wholeBody(await this.#fetch(at, signal), this.#limits.idleMs));
  }

  async getStream(key: string): Promise<Readable> {
    const at = this.#at(key);
    return continuedStream(
      (from) =>
        this.#call((signal) => this.#fetch(from === 0 ? at : { ...at, Range: `bytes=${from}-` }, signal)),
      this.#limits.idleMs,
    );
  }

  async getRange(key: string, start: number, end: number): Promise<Buffer> {
    const at = this.#at(key);
    if (end <= start) return Buffer.alloc(0);
    try {
      return await this.#call(async (signal) =>
        rangeBody(
          await this.#fetch({ ...at, Range: `bytes=${start}-${end - 1}` }, signal),
          { start, end },
          this.#limits.idleMs,
        ),
      );
    } catch (error) {
      if (isRangeBeyondEnd(error)) return Buffer.alloc(0);
      throw error;
    }
  }

  async head(key: string): Promise<ObjectInfo | null> {
    const at = this.#at(key);
    try {
      const { ContentLength, LastModified } = await this.#call((abortSignal) =>
        this.#client.send(new this.#sdk.HeadObjectCommand(at), { abortSignal }),
      );
      return { key, byteSize: ContentLength ?? 0, modifiedAt: LastModified ?? new Date(0) };
    } catch (error) {
      if (error instanceof ObjectNotFoundError) return null;
      throw error;
    }
  }

  async delete(key: string): Promise<void> {
    const at = this.#at(key);
    await this.#call((abortSignal) =>
      this.#client.send(new this.#sdk.DeleteObjectCommand(at), { abortSignal }),
    ).catch((error: unknown) => {
      if (!(error instanceof ObjectNotFoundError)) throw error;
    });
  }

  async *list(prefix: string): AsyncIterable<ObjectInfo> {
    assertPrefix(prefix);
    let token: string | undefined;
    do {
      const page = await this.#call((abortSignal) =>
        this.#client.send(
          new this.#sdk.ListObjectsV2Command({
            Bucket: this.#bucket,
            Prefix: prefix,
            ContinuationToken: token,
          }),
          { abortSignal },
        ),
      );
      for (const { Key, Size, LastModified } of page.Contents ?? [])
        if (Key !== undefined && (prefix.startsWith(PROBES) || !Key.startsWith(PROBES)))
          yield { key: Key, byteSize: Size ?? 0, modifiedAt: LastModified ?? new Date(0) };
      token = page.NextContinuationToken;
    } while (token !== undefined);
  }

  /** A put is one request: it leaves an object or nothing. Only probes of processes that were killed leave theirs. */
  async sweep(): Promise<void> {
    for await (const { key, modifiedAt } of this.list(PROBES))
      if (Date.now() - modifiedAt.getTime() > STALE_PROBE_MS) await this.delete(key);
  }

  probe(): Promise<void> {
    return this.#probe.ask();
  }

  close(): void {
    this.#closed.abort(new Error('the store is closed'));
    this.#client.destroy();
  }

  #at(key: string): { Bucket: string; Key: string } {
    assertKey(key);
    return { Bucket: this.#bucket, Key: key };
  }

  #fetch(input: GetObjectCommandInput, abortSignal: AbortSignal): Promise<GetObjectCommandOutput> {
    return this.#client.send(new this.#sdk.GetObjectCommand(input), { abortSignal });
  }

  /** Throws `ObjectNotFoundError`, or `StorageUnavailableError` with what the last attempt threw. */
  async #call<T>(send: (signal: AbortSignal) => Promise<T>): Promise<T> {
    try {
      return await attempted(send, this.#limits, this.#closed.signal);
    } catch (error) {
      const { name } = error as Error;
      if (statusOf(error) === 404 && name !== 'NoSuchBucket')
        throw new ObjectNotFoundError('there is no such object', { cause: error });
      this.#probe.doubt();
      throw new StorageUnavailableError(
        name === 'NoSuchBucket' ? 'there is no such bucket' : 'the object storage did not serve a request',
        { cause: error },
      );
    }
  }
}

function isRangeBeyondEnd(error: unknown): boolean {
  return error instanceof StorageUnavailableError && statusOf(error.cause) === 416;
}
