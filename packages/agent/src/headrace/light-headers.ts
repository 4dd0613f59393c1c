/**
 * A Headers with what the model SDK needs. The first use of Node's own loads all of undici: 75 ms, measured,
 * more than the whole SDK takes. Names are lower case, with one value each.
 */
export class LightHeaders {
  readonly #values = new Map<string, string>();

  constructor(init?: Iterable<readonly [string, string]> | Record<string, string> | null) {
    const entries =
      init === undefined || init === null ? [] : Symbol.iterator in init ? init : Object.entries(init);
    for (const [name, value] of entries) this.append(name, value);
  }

  get(name: string): string | null {
    return this.#values.get(name.toLowerCase()) ?? null;
  }
  has(name: string): boolean {
    return this.#values.has(name.toLowerCase());
  }
  set(name: string, value: string): void {
    this.#values.set(name.toLowerCase(), value);
  }
  delete(name: string): void {
    this.#values.delete(name.toLowerCase());
  }
  append(name: string, value: string): void {
    const known = this.get(name);
    this.set(name, known === null ? value : `${known}, ${value}`);
  }
  forEach(each: (value: string, name: string) => void): void {
    for (const [name, value] of this.#values) each(value, name);
  }
  entries(): MapIterator<[string, string]> {
    return this.#values.entries();
  }
  keys(): MapIterator<string> {
    return this.#values.keys();
  }
  values(): MapIterator<string> {
    return this.#values.values();
  }
  [Symbol.iterator](): MapIterator<[string, string]> {
    return this.#values.entries();
  }
}

/**
 * Replaces the global Headers; call it before the SDK is loaded. It assigns, because redefining the property
 * would load the original.
 */
export function useLightHeaders(): void {
  (globalThis as { Headers: unknown }).Headers = LightHeaders;
}
