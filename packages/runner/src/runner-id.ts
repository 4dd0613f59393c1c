import { randomBytes } from 'node:crypto';

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
export const RUNNER_ID = /^rnr_[0-9a-hjkmnp-tv-z]{26}$/;

/** A random id of a runner. */
export const newRunnerId = (): string =>
  `rnr_${Array.from(randomBytes(26), (byte) => ALPHABET[byte % ALPHABET.length]).join('')}`;
