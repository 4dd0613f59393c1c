/** Questions to a person. `@clack/prompts` is loaded only here, and only on a terminal. */
import type { Readable, Writable } from 'node:stream';
import { interrupted } from '../core/fault.ts';

interface Streams {
  input: Readable;
  output: Writable;
}
export interface Choice<T extends string> {
  value: T;
  label: string;
  hint?: string;
}

async function answered<T>(ask: (clack: typeof import('@clack/prompts')) => Promise<unknown>): Promise<T> {
  const clack = await import('@clack/prompts');
  const answer = await ask(clack);
  if (clack.isCancel(answer)) throw interrupted();
  return answer as T;
}

export const askConfirm = (streams: Streams, message: string): Promise<boolean> =>
  answered<boolean>((clack) => clack.confirm({ ...streams, message, initialValue: false }));

export const askText = (
  streams: Streams,
  message: string,
  validate?: (text: string) => string | undefined,
): Promise<string> =>
  answered<string>((clack) =>
    clack.text({ ...streams, message, validate: (text) => validate?.(text ?? '') }),
  );

export const askSecret = (streams: Streams, message: string): Promise<string> =>
  answered<string>((clack) => clack.password({ ...streams, message }));

export const askChoice = <T extends string>(
  streams: Streams,
  message: string,
  options: readonly Choice<T>[],
): Promise<T> => answered<T>((clack) => clack.select<string>({ ...streams, message, options: [...options] }));
