/**
 * The secrets of one sandbox, which no text that comes out of it may hold. Text is masked before it is cut, and
 * before anything else sees it, so that neither a journal nor a worker has a secret. All places:
 *
 *   tasks/output.ts          both streams of a command: execs, builds, previews
 *   tasks/commands.ts        why a build's output cannot be read
 *   tasks/turn-updates.ts    an agent's reply
 *   tasks/tool-calls.ts      names, titles, input and output of tools, also in questions
 *   tasks/acp-connection.ts  what an agent writes beside the protocol, and its errors
 *   tasks/turn.ts            an agent's stderr, in errors
 *   tasks/conversation.ts    the reason why a script failed
 *   tasks/egress.ts          hosts that were refused
 *   tasks/task.ts            the error of every task's end
 *
 * Files, visitors of previews and calls of the model gateway are not masked.
 */
import { SHORTEST } from './forms.ts';
import { MaskingStream } from './masking-stream.ts';
import type { Needles } from './needles.ts';
import { needlesOf } from './shared-needles.ts';

const MASK = '***';

/** A text that arrives in pieces. */
export interface MaskedText {
  /** Takes the next piece; returns what can be shown of the text so far, after what was returned before. */
  push(piece: string): string;
  /** The rest, once nothing follows. */
  end(): string;
}

const UNMASKED: MaskedText = { push: (piece) => piece, end: () => '' };

export class Mask {
  readonly #secrets: readonly string[];
  /** Made at the first text; null: nothing to mask. */
  #made: Needles | null | undefined;

  /** Secrets of fewer than 8 characters are ignored. */
  constructor(secrets: readonly string[] = []) {
    this.#secrets = secrets;
  }

  get #needles(): Needles | null {
    if (this.#made === undefined) this.#made = this.#secrets.length > 0 ? needlesOf(this.#secrets) : null;
    return this.#made;
  }

  /** Between its end and the next piece it holds nothing. */
  stream(): MaskedText {
    if (this.#secrets.length === 0) return UNMASKED;
    let stream: MaskedText | undefined;
    return {
      push: (piece) => (stream ??= this.#begun()).push(piece),
      end: () => {
        const rest = stream?.end() ?? '';
        stream = undefined;
        return rest;
      },
    };
  }

  text(text: string): string {
    const stream = this.#begun();
    return stream.push(text) + stream.end();
  }

  /** Of a text that may go on: 8 or more characters at its end that may begin a secret are masked, too. */
  beginning(text: string): string {
    const stream = this.#begun();
    const sure = stream.push(text),
      rest = stream.end();
    return sure + (rest.length < SHORTEST ? rest : MASK);
  }

  /** Lets go of what masking takes; a later text makes it again. */
  release(): void {
    this.#made = undefined;
  }

  #begun(): MaskedText {
    return this.#needles ? new MaskingStream(this.#needles, MASK) : UNMASKED;
  }

  /** A JSON value with its strings, keys and numbers masked. Its depth is that of what JSON.parse takes. */
  json(value: unknown): unknown {
    if (!this.#needles) return value;
    if (typeof value === 'string') return this.text(value);
    if (typeof value === 'number') {
      const text = this.text(String(value));
      return text === String(value) ? value : text;
    }
    if (Array.isArray(value)) return value.map((part) => this.json(part));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, part]) => [this.text(name), this.json(part)]),
    );
  }
}
