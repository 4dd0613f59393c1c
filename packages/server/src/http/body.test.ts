import { EventEmitter } from 'node:events';
import { PassThrough } from 'node:stream';
import { describe, expect, test, vi } from 'vitest';
import { collectGarbage } from '../garbage.fixture.ts';
import { readBody } from './body.ts';
import type { ApiError } from './errors.ts';
import { Intake } from './intake.ts';

const LIMIT = 100;

/** Reads a body that comes in these pieces; a `failure` in place of its end. */
function read(
  pieces: string[],
  { length, failure }: { length?: number; failure?: Error } = {},
): Promise<Buffer> {
  const payload = new PassThrough();
  const headers = length === undefined ? {} : { 'content-length': String(length) };
  const body = new Promise<Buffer>((resolve, reject) => {
    const arrival = new Intake().arrival('address', { headers } as never, new PassThrough() as never);
    readBody({ headers } as never, payload, { limit: LIMIT, arrival }, (error, bytes) => {
      if (error) reject(error);
      else resolve(bytes!);
    });
  });
  for (const piece of pieces) payload.write(piece);
  if (failure) payload.destroy(failure);
  else payload.end();
  return body;
}
const refusal = (body: Promise<Buffer>) =>
  body.then(
    () => 'none',
    (error: ApiError) => error.code,
  );

describe('a body', () => {
  test('is read whole, its length told or not', async () => {
    for (const length of [undefined, 10])
      expect((await read(['0123', '45', '6789'], { length })).toString()).toBe('0123456789');
    for (const length of [undefined, 0]) expect(await read([], { length })).toHaveLength(0);
    expect(await read(['x'.repeat(60), 'y'.repeat(40)])).toHaveLength(LIMIT);
  });

  test('over the limit is 413: by its told length at once, else as it comes', async () => {
    expect(await refusal(read([], { length: LIMIT + 1 }))).toBe('request_too_large');
    expect(await refusal(read(['x'.repeat(60), 'y'.repeat(41)]))).toBe('request_too_large');
  });

  test('that does not end within five minutes is refused', async () => {
    vi.useFakeTimers();
    try {
      const [headers, payload] = [{}, new PassThrough()];
      const refused = new Promise<Error | null>((resolve) => {
        const arrival = new Intake().arrival('address', { headers } as never, new PassThrough() as never);
        readBody({ headers } as never, payload, { limit: LIMIT, arrival }, resolve);
      });
      payload.write('x');
      vi.advanceTimersByTime(5 * 60_000);
      expect(await refused).toMatchObject({ code: 'invalid_request' });
    } finally {
      vi.useRealTimers();
    }
  });

  test('of unknown length takes the room of its own bytes, however small its pieces', async () => {
    const payload = new EventEmitter();
    const ended = new Promise<Buffer>((resolve) => {
      const arrival = new Intake().arrival('address', { headers: {} } as never, new PassThrough() as never);
      const allowance = { limit: 4_000, arrival };
      readBody({ headers: {} } as never, payload as never, allowance, (_error, bytes) => resolve(bytes!));
    });
    const arrayBytes = () => {
      collectGarbage();
      return process.memoryUsage().arrayBuffers;
    };
    const before = arrayBytes();
    for (let i = 0; i < 4_000; i++)
      payload.emit('data', Buffer.alloc(64 * 1024, String(i % 10)).subarray(0, 1));
    expect(arrayBytes() - before).toBeLessThan(128 * 1024 * 1024);
    payload.emit('end');
    expect((await ended).toString()).toBe('0123456789'.repeat(400));
  });

  test('that ends early is 400, never a part of it', async () => {
    expect(await refusal(read(['0123'], { length: 10 }))).toBe('invalid_request');
    expect(await refusal(read(['0123'], { length: 10, failure: new Error('aborted') }))).toBe(
      'invalid_request',
    );
  });
});
