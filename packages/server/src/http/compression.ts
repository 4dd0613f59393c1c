import compress from '@fastify/compress';
import type { FastifyInstance } from 'fastify';

/** Shorter answers are sent as they are. */
export const COMPRESSED_BYTES = 1024;
/** Compressed on the event loop: that is quicker than a stream, and takes less than a tenth of a millisecond. */
const SYNC_BYTES = 8 * 1024;

/**
 * Compresses JSON and text of 1 KiB or more as `Accept-Encoding` asks. Archives, artifacts and event streams
 * are none of these types; what a request sends is never decompressed.
 */
export async function compressAnswers(app: FastifyInstance): Promise<void> {
  await app.register(compress, {
    encodings: ['zstd', 'br', 'gzip', 'identity'],
    threshold: COMPRESSED_BYTES,
    syncThreshold: SYNC_BYTES,
    customTypes: /^text\/(?!event-stream)|^application\/json/,
    globalDecompression: false,
  } as never);
}
