/**
 * Which run is calling: the runner names the run of a connection, and the token proves that the run's agent
 * is the caller.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

const PURPOSE = 'headrace run token';

/** The token of a run's agent. It is valid for that run's connections only, and as long as the run is active. */
export const runToken = (secretKey: Buffer, runId: string): string =>
  createHmac('sha256', secretKey).update(`${PURPOSE} ${runId}`).digest('base64url');

/** Whether a call carries its run's token, as a bearer or as an API key. */
export function hasToken(secretKey: Buffer, runId: string, headers: IncomingHttpHeaders): boolean {
  const expected = Buffer.from(runToken(secretKey, runId));
  const shown = [headers.authorization?.replace(/^bearer +/i, ''), headers['x-api-key']];
  return shown.some((one) => {
    if (typeof one !== 'string') return false;
    const given = Buffer.from(one);
    return given.length === expected.length && timingSafeEqual(given, expected);
  });
}
