/** A request's body, as the bytes that were read and as the JSON object that operations take. */
import type { FastifyRequest } from 'fastify';
import { ApiError, invalid } from './errors.ts';
import { parseStrictJson } from './strict-json.ts';

const EMPTY = Buffer.alloc(0);

export const bodyBytes = (request: FastifyRequest): Buffer =>
  Buffer.isBuffer(request.body) ? request.body : EMPTY;

/** Without parameters, in lower case; empty where the header is missing. */
export const contentTypeOf = (request: FastifyRequest): string =>
  (request.headers['content-type'] ?? '').split(';')[0]!.trim().toLowerCase();

/** For an operation that parses the body itself: 415 unless it takes the media type. */
export function requireMediaType(request: FastifyRequest, accepted: readonly string[]): void {
  if (accepted.includes(contentTypeOf(request))) return;
  throw new ApiError(
    'unsupported_media_type',
    `Send the body as ${accepted.join(' or ')}, with that Content-Type.`,
  );
}

/** The body as a JSON object; `{}` where it is empty. Throws 400 or 415. */
export function parseJsonBody(request: FastifyRequest): object {
  const bytes = bodyBytes(request);
  if (bytes.length === 0) return {};
  if (contentTypeOf(request) !== 'application/json')
    throw new ApiError(
      'unsupported_media_type',
      'Send the body as application/json, with that Content-Type.',
    );
  let parsed: ReturnType<typeof parseStrictJson>;
  try {
    parsed = parseStrictJson(bytes);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw invalid({ path: '', message: error.message });
  }
  if (parsed.faults.length) throw invalid(...parsed.faults.map(({ path, message }) => ({ path, message })));
  if (parsed.value === null || typeof parsed.value !== 'object' || Array.isArray(parsed.value))
    throw invalid({ path: '', message: 'The body has to be a JSON object' });
  return parsed.value;
}
