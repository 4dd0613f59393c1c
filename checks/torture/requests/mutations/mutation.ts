/** One way to break a request, and how it has to be refused. */
import type { Random } from '../../../harness/random.ts';
import type { Operation } from '../document.ts';
import type { Specimen } from '../specimen.ts';
import type { Request } from '../wire.ts';
import type { World } from '../world.ts';

export interface Broken {
  request: Request;
  /** Whose answer it is; null where the path is nobody's. */
  operation: Operation | null;
  /** One of these statuses. */
  status: number[];
  /** One of these codes; any where there are none. */
  code?: string[];
  /** One of the answer's fields names one of these places. */
  at?: string[];
  /**
   * A value that may be right after all, or that the service may take as it is: success is judged by its
   * schema.
   */
  mayPass?: boolean;
}

export interface Mutation {
  name: string;
  /** Its weight among the requests of an operation that it fits, relative to 1. */
  weight?: number;
  fits(operation: Operation): boolean;
  /** Undefined where this specimen cannot be broken so. */
  apply(specimen: Specimen, random: Random, world: World): Broken | undefined | Promise<Broken | undefined>;
}

export const INVALID_BODY = { status: [400], code: ['invalid_request', 'invalid_bundle'] };

/** Where a bundle's rules speak: only once everything else has its right shape. */
const IN_BUNDLE = /^\/(files|changes)\/\d+\/(path|content|renameFrom)$/;
/** The places that an answer has to name one of, where it has to. */
export const due = (at: string[]) => (at.some((pointer) => IN_BUNDLE.test(pointer)) ? undefined : at);
