import type { ModelMessage } from 'ai';

const CHARACTERS_PER_TOKEN = 4;
/** The rough cost of an image; its base64 does not count. */
const IMAGE_CHARACTERS = 6000;

/** Characters of a message as the model reads them. */
export function sizeOf({ content }: ModelMessage): number {
  if (typeof content === 'string') return content.length;
  let size = 0;
  for (const part of content) {
    if (part.type === 'text' || part.type === 'reasoning') size += part.text.length;
    else if (part.type === 'tool-call')
      size += part.toolName.length + JSON.stringify(part.input ?? null).length;
    else if (part.type === 'tool-result')
      size +=
        'value' in part.output && typeof part.output.value === 'string'
          ? part.output.value.length
          : JSON.stringify(part.output).length;
    else if (part.type === 'file' || part.type === 'image' || part.type === 'reasoning-file')
      size += IMAGE_CHARACTERS;
  }
  return size;
}

export const sizeOfAll = (messages: ModelMessage[]): number =>
  messages.reduce((sum, message) => sum + sizeOf(message), 0);

/**
 * The number of tokens of a conversation: the provider's count at the last call, plus an estimate for what
 * followed. Four characters count as a token; when the provider counted more than that (code, other scripts),
 * its ratio is kept.
 */
export class Meter {
  #known: { count: number; tokens: number } | undefined;
  #ratio = 1;

  /**
   * `tokens`: the provider's count of the first `count` messages. `overhead`: characters of instructions and
   * tools.
   */
  note(messages: ModelMessage[], tokens: number | undefined, overhead: number): void {
    if (tokens === undefined) return;
    this.#known = { count: messages.length, tokens };
    this.#ratio = Math.min(4, Math.max(1, tokens / this.#guess(messages, overhead)));
  }

  tokens(messages: ModelMessage[], overhead: number): number {
    const known = this.#known;
    if (!known || known.count > messages.length) return this.#guess(messages, overhead) * this.#ratio;
    return known.tokens + this.#guess(messages.slice(known.count), 0) * this.#ratio;
  }

  /** The messages were changed: the count no longer applies. */
  forget(): void {
    this.#known = undefined;
  }

  #guess(messages: ModelMessage[], overhead: number): number {
    return Math.max(1, (sizeOfAll(messages) + overhead) / CHARACTERS_PER_TOKEN);
  }
}

export const charactersOf = (tokens: number): number => tokens * CHARACTERS_PER_TOKEN;
