/** The form of service keys, with their check digits: a typing error is found before anything is sent. */
import { createHash } from 'node:crypto';

const FORM = /^hrk_([0-7][0-9a-hjkmnp-tv-z]{25})_[A-Za-z0-9_-]{43}[0-9a-f]{6}$/;
const CHECK_DIGITS = 6;

export function isServiceKey(text: string): boolean {
  const head = text.slice(0, -CHECK_DIGITS);
  return (
    FORM.test(text) && createHash('sha256').update(head).digest('hex').startsWith(text.slice(head.length))
  );
}

/** The id of the key, which is no secret. Null for a text that is no key. */
export function credentialIdOf(key: string): string | null {
  const [, id] = FORM.exec(key) ?? [];
  return id === undefined ? null : `cred_${id}`;
}
