/** Highlights apart from the page: a hostile text can stop this worker's answer, not the page. */
import type { Language } from './language.ts';
import { highlight } from './tokens.ts';
import type { Highlights } from './tokens.ts';

export interface Question {
  id: number;
  text: string;
  language: Language;
}

export interface Answer {
  id: number;
  highlights: Highlights | null;
}

const MILLISECONDS = 500;

const scope = globalThis as unknown as {
  addEventListener(type: 'message', listener: (event: MessageEvent<Question>) => void): void;
  postMessage(answer: Answer, transfer: Transferable[]): void;
};

scope.addEventListener('message', (event) => void reply(event.data));

async function reply({ id, text, language }: Question): Promise<void> {
  const highlights = await highlight(text, language, MILLISECONDS).catch(() => null);
  scope.postMessage(
    { id, highlights },
    highlights === null ? [] : [highlights.lines.buffer, highlights.spans.buffer],
  );
}
