import { randomBytes, scryptSync, timingSafeEqual } from 'node:crypto';

const KEY_BYTES = 32;

/**
 * scrypt with a random salt. The cost is part of the hash (`scrypt$cost$salt$key`), so
 * that it can be raised without breaking the passwords that are stored already.
 */
export function createPasswords(cost = 2 ** 14) {
  const derive = (password, salt, n) => scryptSync(password.normalize('NFC'), salt, KEY_BYTES, { N: n });
  return {
    hash(password) {
      const salt = randomBytes(16);
      return ['scrypt', cost, salt.toString('base64url'), derive(password, salt, cost).toString('base64url')].join('$');
    },
    verify(password, stored) {
      const [scheme, n, salt, key] = stored.split('$');
      if (scheme !== 'scrypt') return false;
      const actual = derive(password, Buffer.from(salt, 'base64url'), Number(n));
      return timingSafeEqual(actual, Buffer.from(key, 'base64url'));
    },
  };
}
