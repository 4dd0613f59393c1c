/**
 * Look-ups of secrets that this process does not know: keys, sessions, addresses of previews. The database
 * looks for each that is made up, and no limit can distinguish it before that from one used for the first time.
 * So an address has a few look-ups of its own in a minute; beyond them, all that wait share one statement, one
 * after the other.
 *
 *   a look-up that finds something does not count
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { networkOf } from './networks.ts';

const FREE = 10;
const WINDOW_MS = 60_000;
const PAUSE_MS = 50;
/** Beyond so many addresses in a minute they all count as one. */
const MAX_ADDRESSES = 10_000;

interface Address {
  /** Look-ups under way, and those that found nobody. */
  count: number;
  until: number;
  /** The statement that waits for its turn. */
  next: { names: Set<string>; found: Promise<Map<string, unknown>> } | null;
  last: Promise<unknown>;
}

export class Strangers<Found> {
  readonly #load: (names: string[]) => Promise<Map<string, Found>>;
  readonly #addresses = new Map<string, Address>();

  constructor(load: (names: string[]) => Promise<Map<string, Found>>) {
    this.#load = load;
  }

  async lookUp(name: string, from: string): Promise<Found | null> {
    const address = this.#address(networkOf(from));
    const isFree = ++address.count <= FREE;
    const found = await (isFree ? this.#load([name]) : this.#together(address, name));
    const one = found.get(name) ?? null;
    if (one) address.count--;
    return one;
  }

  #together(address: Address, name: string): Promise<Map<string, Found>> {
    address.next ??= this.#line(address);
    address.next.names.add(name);
    return address.next.found as Promise<Map<string, Found>>;
  }

  #line(address: Address): NonNullable<Address['next']> {
    const names = new Set<string>();
    const found = address.last
      .catch(() => {})
      .then(() => sleep(PAUSE_MS))
      .then(() => {
        address.next = null;
        return this.#load([...names]);
      });
    address.last = found;
    return { names, found };
  }

  #address(from: string): Address {
    const now = performance.now();
    if (this.#addresses.size >= MAX_ADDRESSES)
      for (const [name, { until }] of this.#addresses) if (now >= until) this.#addresses.delete(name);
    const isOne = this.#addresses.has(from) || this.#addresses.size < MAX_ADDRESSES;
    const name = isOne ? from : 'others';
    const known = this.#addresses.get(name);
    if (known && now < known.until) return known;
    const address = { count: 0, until: now + WINDOW_MS, next: null, last: Promise.resolve() };
    this.#addresses.set(name, address);
    return address;
  }
}
