/** A request's body, as the bytes that were read and as what the operation takes. */
import type { FastifyRequest } from 'fastify';
import { asBuffer } from '../buffers.ts';
import { ApiError } from './errors.ts';
import type { Field } from './errors.ts';
import { legacyKeysOf } from './idempotency-key.ts';
import type { LegacyKey } from './idempotency-key.ts';
import { parseJsonObject } from './json-body.ts';
import { LARGE_BYTES } from './large-json.ts';
import type { LargeJson } from './large-json.ts';
import type { Operation } from './operation.ts';
import { NO_FIELDS } from './schemas.ts';
import { compile } from './validate.ts';

const EMPTY = Buffer.alloc(0);

export const bodyBytes = (request: FastifyRequest): Buffer =>
  Buffer.isBuffer(request.body) ? request.body : EMPTY;

/** Without parameters, in lower case; empty where the header is missing. */
export const contentTypeOf = (request: FastifyRequest): string =>
  (request.headers['content-type'] ?? '').split(';')[0]!.trim().toLowerCase();

export interface ReadBody {
  /** Undefined where the operation parses the body itself. Not to be used where there are faults. */
  body: unknown;
  faults: Field[];
  legacyKeys: LegacyKey[];
  /** Of a large one: made where it was parsed. */
  fingerprint?: Buffer;
}

/** Reads the bodies of one operation. */
export class BodyReader {
  readonly #operation: Operation;
  readonly #largeJson: LargeJson;
  readonly #check: (body: unknown) => Field[];

  constructor(operation: Operation, largeJson: LargeJson) {
    this.#operation = operation;
    this.#largeJson = largeJson;
    this.#check = compile(this.#schema, 'body');
  }

  /** Throws 400 or 415. `fingerprintOf`: what a large body is fingerprinted with. */
  async read(
    request: FastifyRequest,
    orgId: string,
    fingerprintOf: () => { method: string; path: string; query: unknown },
  ): Promise<ReadBody> {
    const { rawBody, legacyKeys = [] } = this.#operation;
    if (rawBody) {
      requireMediaType(request, rawBody);
      return { body: undefined, faults: [], legacyKeys: [] };
    }
    const bytes = bodyBytes(request);
    if (bytes.length > 0) requireMediaType(request, ['application/json']);
    if (bytes.length <= LARGE_BYTES) {
      const body = parseJsonObject(bytes);
      return { body, faults: this.#check(body), legacyKeys: legacyKeysOf(body, legacyKeys) };
    }
    const parsed = await this.#largeJson.parse(orgId, {
      bytes,
      schema: JSON.stringify(this.#schema),
      legacyKeys,
      request: fingerprintOf(),
    });
    return { ...parsed, fingerprint: asBuffer(parsed.fingerprint) };
  }

  get #schema() {
    return this.#operation.body ?? NO_FIELDS;
  }
}

/** 415 unless the body is of a type that the operation takes. */
function requireMediaType(request: FastifyRequest, accepted: readonly string[]): void {
  if (accepted.includes(contentTypeOf(request))) return;
  throw new ApiError(
    'unsupported_media_type',
    `Send the body as ${accepted.join(' or ')}, with that Content-Type.`,
  );
}
