import type { IncomingMessage, ServerResponse } from 'node:http';
import { SIGN_OF_LIFE_MS } from '../protocol.ts';

/** A peer that sends nothing of a body for so long, while it is waited for, is away. */
const STALL_MS = 60_000;
export const JOURNAL_TYPE = 'application/x-ndjson';

/**
 * For a request from another machine, whose end may never be told: shows signs of life until it is answered, and
 * ends it when the peer stops in the middle of its body.
 */
export function watchRemote(req: IncomingMessage, res: ServerResponse, everyMs = SIGN_OF_LIFE_MS): void {
  let read = -1,
    stalledMs = 0;
  const timer = setInterval(() => {
    showLife(res);
    const isStalled = !req.complete && req.readableLength === 0 && req.socket.bytesRead === read;
    stalledMs = isStalled ? stalledMs + everyMs : 0;
    read = req.socket.bytesRead;
    if (stalledMs >= STALL_MS) req.destroy(new Error('Its body stopped arriving.'));
  }, everyMs);
  res.once('close', () => clearInterval(timer));
}

function showLife(res: ServerResponse): void {
  if (res.writableEnded || res.destroyed) return;
  if (!res.headersSent) res.writeProcessing();
  // Between two lines: each entry is written whole.
  else if (res.getHeader('content-type') === JOURNAL_TYPE && !res.writableNeedDrain) res.write('\n');
}
