/**
 * Host tokens: `hrh_` + the 26 base32 characters of the host's id + `_` + 32 random bytes in base64url. The secret has
 * 256 random bits, so a plain SHA-256 of the token is kept.
 */
import { hash, randomBytes, timingSafeEqual } from 'node:crypto';

const FORM = /^hrh_([0-7][0-9a-hjkmnp-tv-z]{25})_[A-Za-z0-9_-]{43}$/;

/** A new token of a host, and what is stored of it. */
export function makeHostToken(hostId: string): { token: string; hash: Buffer } {
  const token = `hrh_${hostId.slice('hst_'.length)}_${randomBytes(32).toString('base64url')}`;
  return { token, hash: hashToken(token) };
}

/** The host that a token names; null where it has not the form of one. */
export function hostIdOf(token: string): string | null {
  const id = FORM.exec(token)?.[1];
  return id === undefined ? null : `hst_${id}`;
}

export const isTokenOf = (token: string, stored: Buffer | null): boolean =>
  stored !== null && timingSafeEqual(hashToken(token), stored);

const hashToken = (token: string): Buffer => hash('sha256', token, 'buffer');
