/**
 * Which run is calling: the runner names the run of a connection, and the token proves that the run's agent
 * is the caller.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { everyKey, keyFor } from '../sealing.ts';

const PURPOSE = 'run tokens';

/** The token of a run's agent. It is valid for that run's connections only, and as long as the run is active. */
export const runToken = (secretKey: Buffer, runId: string): string =>
  createHmac('sha256', keyFor(secretKey, PURPOSE)).update(runId).digest('base64url');

/** As version 0.1.0 made them: runs outlive an upgrade. */
const formerToken = (secretKey: Buffer, runId: string): string =>
  createHmac('sha256', secretKey).update(`headrace run token ${runId}`).digest('base64url');

/** Whether a call carries its run's token, as a bearer or as an API key. */
export function hasToken(secretKey: Buffer, runId: string, headers: IncomingHttpHeaders): boolean {
  const expected = everyKey(secretKey).flatMap((key) =>
    [runToken, formerToken].map((make) => Buffer.from(make(key, runId))),
  );
  const shown = [headers.authorization?.replace(/^bearer +/i, ''), headers['x-api-key']];
  return shown.some((one) => {
    if (typeof one !== 'string') return false;
    const given = Buffer.from(one);
    return expected.some((token) => given.length === token.length && timingSafeEqual(given, token));
  });
}
