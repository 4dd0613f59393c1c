/** Changes by hand that are not sent yet. This tab's storage has them too: a reload keeps them. */
import { useMemo, useSyncExternalStore } from 'react';

/** Texts by path, null for a deleted file. Without a prototype: a path may be any word. */
export type Edits = Readonly<Record<string, string | null>>;

interface State {
  edits: Edits;
  /** Paths whose text the storage has no room for. */
  unkept: ReadonlySet<string>;
}

/** Storage is written after a pause in typing. */
const PAUSE_MS = 300;

/** The edits of a source, one item of the storage for each path. */
export class EditStore {
  readonly #prefix: string;
  #state: State;
  #unwritten = new Set<string>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #listeners = new Set<() => void>();

  constructor(sourceId: string) {
    this.#prefix = `headrace:edits:${sourceId}:`;
    this.#state = { edits: readAll(this.#prefix), unkept: new Set() };
  }

  readonly state = (): State => this.#state;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    addEventListener('pagehide', this.flush);
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size === 0) removeEventListener('pagehide', this.flush);
      this.flush();
    };
  };

  /** Undefined takes the change back. */
  set(path: string, text: string | null | undefined): void {
    this.#change({ [path]: text });
  }

  /** Drops what was sent; what was changed since stays. */
  drop(sent: readonly { path: string; content: string | null }[]): void {
    const { edits } = this.#state;
    const same = sent.filter(({ path, content }) => edits[path] === content);
    this.#change(Object.fromEntries(same.map(({ path }) => [path, undefined])));
    this.flush();
  }

  readonly flush = (): void => {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#unwritten.size === 0) return;
    const unkept = new Set(this.#state.unkept);
    for (const path of this.#unwritten)
      if (keep(this.#prefix + path, this.#state.edits[path])) unkept.delete(path);
      else unkept.add(path);
    this.#unwritten.clear();
    this.#tell({ ...this.#state, unkept });
  };

  #change(changes: Record<string, string | null | undefined>): void {
    const edits: Record<string, string | null> = Object.assign(Object.create(null), this.#state.edits);
    for (const [path, text] of Object.entries(changes)) {
      if (text === undefined) delete edits[path];
      else edits[path] = text;
      this.#unwritten.add(path);
    }
    clearTimeout(this.#timer);
    this.#timer = setTimeout(this.flush, PAUSE_MS);
    this.#tell({ ...this.#state, edits });
  }

  #tell(state: State): void {
    this.#state = state;
    for (const listener of this.#listeners) listener();
  }
}

/** A write that ends after the editor was left finds the same edits as the editor that is opened next. */
const stores = new Map<string, EditStore>();

export function useEdits(sourceId: string): State & { store: EditStore } {
  const store = useMemo(() => {
    const known = stores.get(sourceId) ?? new EditStore(sourceId);
    stores.set(sourceId, known);
    return known;
  }, [sourceId]);
  return { ...useSyncExternalStore(store.subscribe, store.state), store };
}

function readAll(prefix: string): Edits {
  const edits: Record<string, string | null> = Object.create(null);
  try {
    for (let index = 0; index < sessionStorage.length; index++) {
      const name = sessionStorage.key(index)!;
      if (name.startsWith(prefix))
        edits[name.slice(prefix.length)] = JSON.parse(sessionStorage.getItem(name)!) as string | null;
    }
  } catch {
    // Without storage they last as long as the page.
  }
  return edits;
}

/** Whether the storage has it now. An older text is no use: it would come back as if it were the last one. */
function keep(name: string, text: string | null | undefined): boolean {
  try {
    sessionStorage.removeItem(name);
    if (text !== undefined) sessionStorage.setItem(name, JSON.stringify(text));
    return true;
  } catch {
    return false;
  }
}

const isWindows = (text: string) => text.includes('\r\n') && !/(?<!\r)\n|\r(?!\n)/.test(text);

/** Whether a field cannot keep the line ends: which line has which is lost in it. */
export const hasMixedEnds = (text: string): boolean => text.includes('\r') && !isWindows(text);

/** A field's text, whose lines end with a line feed, with the line ends of the file that it was. */
export function withLineEnds(text: string, before: string | undefined): string {
  return before !== undefined && isWindows(before) ? text.replaceAll(/\r?\n/g, '\r\n') : text;
}
