import { HttpError } from '../errors.js';

const MAX_BYTES = 64 * 1024;

/** The JSON body of a request; undefined when there is none. Throws 400, 413 or 415. */
export async function readBody(request) {
  const chunks = [];
  let size = 0;
  for await (const chunk of request) {
    size += chunk.length;
    if (size > MAX_BYTES) throw new HttpError(413, 'error.tooLarge');
    chunks.push(chunk);
  }
  if (size === 0) return undefined;
  // A form on another site can post text/plain with the cookie, but never this type.
  if (!/^application\/json\b/.test(request.headers['content-type'] ?? '')) throw new HttpError(415, 'error.notJson');
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8'));
  } catch {
    throw new HttpError(400, 'error.notJson');
  }
}
