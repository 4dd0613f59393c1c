/**
 * A Headers that is enough for the model SDK. The first use of Node's own loads undici whole: 75 ms,
 * measured, more than all of the SDK takes. Names are lower case; one value a name.
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
 * Puts it in the place of the global one; before the SDK is loaded. By assignment: to define the property
 * anew loads what is there.
 */
export function useLightHeaders(): void {
  (globalThis as { Headers: unknown }).Headers = LightHeaders;
}
