/** What the event loop and the threads of large-json.ts say to each other. */
import type { Field } from './errors.ts';
import type { LegacyKey } from './idempotency-key.ts';

export interface JsonJob {
  bytes: Uint8Array;
  /** The body's schema as JSON. */
  schema: string;
  legacyKeys: readonly string[];
  /** What the fingerprint takes in addition to the body. */
  request: { method: string; path: string; query: unknown };
}

/** `refusal`: what is wrong with it as JSON. `body` is empty where `faults` has what its schema refuses. */
export type JsonAnswer =
  | { refusal: Field[] }
  | { body: object; faults: Field[]; legacyKeys: LegacyKey[]; fingerprint: Uint8Array };
