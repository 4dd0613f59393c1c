/**
 * Service keys: `hrk_` + the 26 base32 characters of the credential's id + `_` + 32 random bytes in
 * base64url + 6 check digits (the first hex digits of the SHA-256 of all before them), so that
 * secret scanners and typing errors need no look-up. The secret has 256 random bits: a plain SHA-256 of the
 * key is kept, a slow hash would protect nothing and cost every request.
 */
import { hash, randomBytes } from 'node:crypto';
import { newId } from '../ids.ts';

const FORM = /^hrk_([0-7][0-9a-hjkmnp-tv-z]{25})_[A-Za-z0-9_-]{43}[0-9a-f]{6}$/;
const CHECK_DIGITS = 6;

const checkDigits = (text: string) => hash('sha256', text, 'hex').slice(0, CHECK_DIGITS);

/** A new key, made offline; it is known to a service once a credential is stored for it. */
export function makeServiceKey(credentialId: string = newId('cred')): string {
  const head = `hrk_${credentialId.slice('cred_'.length)}_${randomBytes(32).toString('base64url')}`;
  return head + checkDigits(head);
}

/** Whether `text` has the form of a service key, check digits included. */
export function isServiceKey(text: string): boolean {
  return FORM.test(text) && text.endsWith(checkDigits(text.slice(0, -CHECK_DIGITS)));
}

/** Whether there is a key anywhere in the text, with right check digits or without. */
export const namesServiceKey = (text: string): boolean =>
  /hrk_[0-7][0-9a-hjkmnp-tv-z]{25}_[A-Za-z0-9_-]{43}/.test(text);

/** The `cred_` id that a well-formed key names. */
export const credentialIdOf = (key: string) => `cred_${FORM.exec(key)![1]}`;

/** What is stored of a key. */
export const hashKey = (key: string) => hash('sha256', key, 'buffer');
