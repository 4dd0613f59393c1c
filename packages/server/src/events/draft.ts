import { clean } from '../db/clean-text.ts';

/** The reply of a run that works, as far as it is written. */
export interface Draft {
  threadId: string;
  /** The id that the message will have once it is persisted. */
  messageId: string;
  runId: string;
  /** Rises with each text of the run, and is the same in every process. */
  revision: number;
  content: string;
}

/** Each frame has the whole text, ten times a second for each reader. A message that is sent may have as many. */
const CONTENT_CODE_POINTS = 100_000;

/** The part of a text that is shown. */
export function shownPart(text: string): string {
  if (text.length <= CONTENT_CODE_POINTS) return clean(text);
  let end = 0;
  for (let count = 0; count < CONTENT_CODE_POINTS && end < text.length; count++)
    end += text.codePointAt(end)! > 0xffff ? 2 : 1;
  return clean(text.slice(0, end));
}
