import { clean } from '../db/clean-text.ts';

const CHARACTERS = 1_000;

/** The end of what a command printed, kept for its error. */
export class OutputTail {
  #text = '';
  #isCut = false;

  add(text: string): void {
    const all = this.#text + text;
    this.#isCut ||= all.length > CHARACTERS;
    this.#text = all.slice(-CHARACTERS);
  }

  /** What a message ends with: the last lines, or nothing where nothing was printed. */
  sentence(): string {
    const end = this.#text.trimEnd();
    const line = this.#isCut ? end.indexOf('\n') + 1 : 0;
    const said = clean(end.slice(line)).trim();
    return said ? ` Its last output: ${said}` : '';
  }
}
