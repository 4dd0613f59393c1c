/**
 * Whether a bucket can be used: by an object that is written, listed, read and deleted. A HEAD of the bucket says nothing
 * about rights. What was found is kept: readiness is asked often, and requests cost.
 */
import { randomUUID } from 'node:crypto';
import {
  ObjectNotFoundError,
  StorageRefusesError,
  StorageUnavailableError,
  type ObjectStore,
} from './object-store.ts';
import { statusOf } from './s3-attempts.ts';

/** Where probes' objects lie; listings leave them out. */
export const PROBES = 'probe/';

/** Four requests in half a minute: about a dollar a month for each process that is asked, at AWS. */
const KEPT_MS = 30_000;

type Probed = Pick<ObjectStore, 'put' | 'get' | 'delete' | 'list'>;

export class Probe {
  readonly #store: Probed;
  /** One for each process: a probe that cannot delete its object replaces it the next time. */
  readonly #key = `${PROBES}${randomUUID()}`;
  #last: { found: Promise<void>; until: number } | undefined;

  constructor(store: Probed) {
    this.#store = store;
  }

  /** Rejects when the bucket cannot be used. Asks it at most once at a time, and not within 30 s of a success. */
  async ask(): Promise<void> {
    if (this.#last && performance.now() < this.#last.until) return this.#last.found;
    const now = { found: this.#look(), until: Infinity };
    this.#last = now;
    try {
      await now.found;
      now.until = performance.now() + KEPT_MS;
    } catch (error) {
      now.until = 0;
      throw error;
    }
  }

  /** A request has failed: the next one who asks is not answered from before. */
  doubt(): void {
    if (this.#last && this.#last.until !== Infinity) this.#last.until = 0;
  }

  async #look(): Promise<void> {
    const refused = new Set<string>();
    const may = async (right: string, work: () => Promise<unknown>): Promise<boolean> => {
      try {
        await work();
        return true;
      } catch (error) {
        if (!isRefusal(error)) throw error;
        refused.add(right);
        return false;
      }
    };
    const content = Buffer.from(randomUUID());
    const isPut = await may('s3:PutObject', () => this.#store.put(this.#key, content));
    const keys: string[] = [];
    const isListed = await may('s3:ListBucket', async () => {
      for await (const { key } of this.#store.list(this.#key)) keys.push(key);
    });
    let bytes: Buffer | null = null;
    // Without the right to list, what is missing is refused like what may not be read.
    if (isPut || isListed)
      await may('s3:GetObject', async () => {
        bytes = await this.#store.get(this.#key).catch((error: unknown) => {
          if (error instanceof ObjectNotFoundError) return null;
          throw error;
        });
      });
    await may('s3:DeleteObject', () => this.#store.delete(this.#key));
    if (refused.size) throw new StorageRefusesError(`The bucket refuses requests: grant ${textOf(refused)}.`);
    if (!keys.includes(this.#key) || !content.equals(bytes ?? Buffer.alloc(0)))
      throw new StorageUnavailableError('the bucket does not show at once what was written');
  }
}

const textOf = (rights: Set<string>) => new Intl.ListFormat('en').format(rights);

/** Throws what is wrong with the credentials, or the clock. */
function isRefusal(error: unknown): boolean {
  if (!(error instanceof StorageUnavailableError) || statusOf(error.cause) !== 403) return false;
  const fault = FAULTS[(error.cause as Error).name];
  if (fault !== undefined) throw new StorageRefusesError(fault, { cause: error });
  return true;
}

const FAULTS: Record<string, string> = {
  InvalidAccessKeyId: 'The object storage does not know the access key (AWS_ACCESS_KEY_ID).',
  SignatureDoesNotMatch: 'The secret of the access key is wrong (AWS_SECRET_ACCESS_KEY).',
  RequestTimeTooSkewed: "The clock of this machine differs too much from the object storage's.",
};
