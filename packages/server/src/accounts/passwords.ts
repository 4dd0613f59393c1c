/** Passwords as argon2id in PHC form. An unknown address costs the same time as a wrong password. */
import { argon2 as argon2Callback, randomBytes, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { turns } from './turns.ts';

const argon2 = promisify(argon2Callback);

/** What a user or the operator changes a password to, in code points. */
export const NEW_PASSWORD = { minLength: 12, maxLength: 200 } as const;

/** OWASP's first choice for argon2id; measured 38 ms. */
const PARAMETERS = { memory: 19_456, passes: 2, parallelism: 1 } as const;
const HASH_BYTES = 32;
/** Hashing runs on libuv's four threads, which files and compression use too. */
const AT_ONCE = 2;
const MAX_WAITING = 200;

const inTurn = turns(AT_ONCE, MAX_WAITING);

const derive = (
  password: string,
  nonce: Buffer,
  parameters: { memory: number; passes: number; parallelism: number },
  tagLength: number,
): Promise<Buffer> =>
  inTurn(() =>
    argon2('argon2id', { message: Buffer.from(password.normalize('NFC')), nonce, tagLength, ...parameters }),
  );

const base64 = (bytes: Buffer) => bytes.toString('base64').replace(/=+$/, '');

/** `$argon2id$v=19$m=…,t=…,p=…$<salt>$<hash>`. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(16);
  const hash = await derive(password, salt, PARAMETERS, HASH_BYTES);
  return `$argon2id$v=19$m=${PARAMETERS.memory},t=${PARAMETERS.passes},p=${PARAMETERS.parallelism}$${base64(salt)}$${base64(hash)}`;
}

const PHC = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/;
const NOBODY = `$argon2id$v=19$m=${PARAMETERS.memory},t=${PARAMETERS.passes},p=${PARAMETERS.parallelism}$${base64(Buffer.alloc(16))}$${base64(Buffer.alloc(HASH_BYTES))}`;

/**
 * Whether the password is the one of `stored`; without a user (`undefined`) the same work is done, and the
 * answer is no.
 */
export async function verifyPassword(password: string, stored: string | undefined): Promise<boolean> {
  const [, memory, passes, parallelism, salt, hash] = PHC.exec(stored ?? NOBODY) ?? [];
  if (salt === undefined || hash === undefined) throw new Error('a stored password hash has an unknown form');
  const expected = Buffer.from(hash, 'base64');
  const actual = await derive(
    password,
    Buffer.from(salt, 'base64'),
    { memory: Number(memory), passes: Number(passes), parallelism: Number(parallelism) },
    expected.length,
  );
  return timingSafeEqual(actual, expected) && stored !== undefined;
}
