/**
 * Bytes of bodies that this process holds, by the address that they come from: from the first byte until the
 * request is answered. What does not fit is refused, at once where the request says how long it is.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { networkOf } from '../limits/networks.ts';
import { ApiError } from './errors.ts';
import { LARGE_BYTES } from './large-json.ts';
import { retryHeaders } from './rate-limit.ts';

const MIB = 1024 * 1024;
/** Eight of the largest bodies. */
const MAX_HELD = 512 * MIB;
/** The rest is for bodies up to 1 MiB: large ones hold up no small ones. */
const MAX_HELD_BY_LARGE = 448 * MIB;

export class Intake {
  readonly #held = new Map<string, number>();

  /** A request that may have a body. What it takes is given back when its answer is over. */
  arrival(address: string, request: IncomingMessage, response: ServerResponse): Arrival {
    // One whose caller has gone takes nothing: nobody would give it back.
    if (response.destroyed) return new Arrival(request, response, () => {});
    const network = networkOf(address);
    const arrival = new Arrival(request, response, (taken, bytes) => this.#take(network, taken, bytes));
    response.once('close', () => this.#giveBack(network, arrival.taken));
    return arrival;
  }

  #take(network: string, taken: number, bytes: number): void {
    const held = (this.#held.get(network) ?? 0) + bytes;
    if (held > (taken + bytes > LARGE_BYTES ? MAX_HELD_BY_LARGE : MAX_HELD))
      throw new ApiError(
        'rate_limited',
        'Too many bytes are under way from this address. Retry in a moment.',
        {
          headers: retryHeaders(1),
        },
      );
    this.#held.set(network, held);
  }

  #giveBack(network: string, bytes: number): void {
    const left = (this.#held.get(network) ?? 0) - bytes;
    if (left > 0) this.#held.set(network, left);
    else this.#held.delete(network);
  }
}

export class Arrival {
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #take: (taken: number, bytes: number) => void;
  taken = 0;

  constructor(
    request: IncomingMessage,
    response: ServerResponse,
    take: (taken: number, bytes: number) => void,
  ) {
    this.#request = request;
    this.#response = response;
    this.#take = take;
  }

  /** Throws 429 where the address has no room for that many more. */
  take(bytes: number): void {
    this.#take(this.taken, bytes);
    this.taken += bytes;
  }

  /** Has a client that asked before it sends its body (`Expect: 100-continue`) send it. */
  begin(): void {
    if (this.#request.headers.expect?.toLowerCase() === '100-continue') this.#response.writeContinue();
  }
}
