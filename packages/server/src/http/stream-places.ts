import type { Socket } from 'node:net';
import type { FastifyReply } from 'fastify';
import { tooManyOpen } from './errors.ts';

/** A connection whose other side has ended, and that takes no more bytes, is cut then. */
const HALF_OPEN_MS = 3_000;

/** The event streams and long polls that organizations have open at this process, by organization. */
export class StreamPlaces {
  readonly #bound: number | null;
  readonly #open = new Map<string, number>();
  #count = 0;

  constructor(bound: number | null) {
    this.#bound = bound;
  }

  /** Of all organizations. */
  get count(): number {
    return this.#count;
  }

  /**
   * Takes a place until the answer is over, or its connection: also where the caller only ends its own side
   * and reads nothing more. Throws 429 where the organization has all of its places.
   */
  take(orgId: string, reply: FastifyReply): void {
    // A caller that has gone takes nothing: nobody would give it back.
    if (reply.raw.destroyed) return;
    if (this.#bound !== null) this.#takeBound(this.#bound, orgId, reply);
    this.#count++;
    reply.raw.once('close', () => this.#count--);
  }

  #takeBound(bound: number, orgId: string, reply: FastifyReply): void {
    const count = this.#open.get(orgId) ?? 0;
    if (count >= bound) throw tooManyOpen(bound, 'event streams and long polls');
    this.#open.set(orgId, count + 1);
    const socket: Socket | null = reply.raw.socket;
    const cutLater = () => {
      setTimeout(() => socket?.destroy(), HALF_OPEN_MS).unref();
    };
    socket?.once('end', cutLater);
    reply.raw.once('close', () => {
      socket?.off('end', cutLater);
      this.#giveBack(orgId);
    });
  }

  #giveBack(orgId: string): void {
    const left = this.#open.get(orgId)! - 1;
    if (left === 0) this.#open.delete(orgId);
    else this.#open.set(orgId, left);
  }
}
