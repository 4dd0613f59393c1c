import { SHORTEST } from './forms.ts';
import { MaskingStream } from './masking-stream.ts';
import { Needles } from './needles.ts';

/** Finds whether contents hold the value of a secret, as it is: in no other form. */
export class ValueFinder {
  readonly #needles: Needles | null;

  constructor(secrets: readonly string[]) {
    const values = secrets
      .filter((secret) => secret.length >= SHORTEST)
      .map((secret) => latin1(Buffer.from(secret)));
    this.#needles = values.length > 0 ? new Needles([...new Set(values)]) : null;
  }

  /** Whether there is anything to find. */
  get isNeeded(): boolean {
    return this.#needles !== null;
  }

  /** Takes one content in pieces; `hasFound` says whether a value was in it. */
  search(): { push(piece: Buffer): void; readonly hasFound: boolean } {
    const stream = this.#needles && new MaskingStream(this.#needles, '');
    return {
      push: (piece) => void stream?.push(latin1(piece)),
      get hasFound() {
        return stream?.hasFound ?? false;
      },
    };
  }
}

/** One character for each byte. */
const latin1 = (bytes: Buffer): string => bytes.toString('latin1');
