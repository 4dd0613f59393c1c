/**
 * Signing secrets (https://www.standardwebhooks.com): `whsec_` and the base64 of 32 bytes. After a rotation the old
 * one stays valid until its time, in addition to the new one.
 */
import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import type { RawBuilder } from 'kysely';
import Type from 'typebox';
import type { Static } from 'typebox';
import { Body } from './http/schemas.ts';
import { seal, unseal } from './sealing.ts';

const SECRET_BYTES = 32;
const PREFIX = 'whsec_';

/** The columns of a row's secrets, sealed for the row. */
export interface SigningSecrets {
  org_id: string;
  id: string;
  secret_sealed: Buffer | null;
  former_secret_sealed: Buffer | null;
  former_secret_until: Date | null;
}

type Owner = Pick<SigningSecrets, 'org_id' | 'id'>;

const placeOf = ({ org_id, id }: Owner) => `${org_id} ${id}`;

export const newSigningSecret = (): string => PREFIX + randomBytes(SECRET_BYTES).toString('base64');

export const sealSigningSecret = (secretKey: Buffer, purpose: string, owner: Owner, secret: string): Buffer =>
  seal(secretKey, purpose, placeOf(owner), secret);

/** The secrets that are valid at `now`, newest first. Throws if the service's secret key has changed. */
export function openSigningSecrets(
  secretKey: Buffer,
  purpose: string,
  row: SigningSecrets,
  now: Date,
): string[] {
  const isFormerValid = row.former_secret_until !== null && row.former_secret_until > now;
  return [row.secret_sealed, isFormerValid ? row.former_secret_sealed : null]
    .filter((sealed) => sealed !== null)
    .map((sealed) => unseal(secretKey, purpose, placeOf(row), sealed));
}

const OVERLAP_SECONDS = 86_400;

/** The body of a rotation. */
export const Rotation = Body({
  overlapSeconds: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 604_800,
      default: OVERLAP_SECONDS,
      description: 'How long the old secret stays valid.',
    }),
  ),
});

/** The columns after a rotation; an older former secret is dropped. */
export function rotatedSecret(
  { secret_sealed: current }: Pick<SigningSecrets, 'secret_sealed'>,
  sealed: Buffer,
  { overlapSeconds = OVERLAP_SECONDS }: Static<typeof Rotation>,
): {
  secret_sealed: Buffer;
  former_secret_sealed: Buffer | null;
  former_secret_until: RawBuilder<Date> | null;
} {
  const isKept = overlapSeconds > 0;
  return {
    secret_sealed: sealed,
    former_secret_sealed: isKept ? current : null,
    former_secret_until: isKept ? sql<Date>`now() + ${overlapSeconds} * interval '1 second'` : null,
  };
}

/**
 * The key of the signature: the decoded base64 after `whsec_`. For a secret without the prefix, from a sender, it is
 * the text itself.
 */
export const signingKey = (secret: string): Buffer =>
  secret.startsWith(PREFIX) ? Buffer.from(secret.slice(PREFIX.length), 'base64') : Buffer.from(secret);
