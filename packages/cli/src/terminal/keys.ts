/** Single keys of a person at a terminal. The terminal is raw only while a key is awaited. */
import { interrupted } from '../core/fault.ts';
import type { Io } from '../core/io.ts';

/** One key: an escape sequence of the terminal, or a character. */
// oxlint-disable-next-line no-control-regex -- terminals send them
const FIRST = /^(?:\u001b(?:\[[0-9;?]*[ -/]*[@-~]|O.|[^[O])?|.)/su;
const CTRL_C = '\u0003';

/**
 * Waits for one key. What was typed after it stays for the next call. Ctrl-C is an interrupt, and so is the end of the
 * input: a terminal that was closed answers nothing.
 */
export async function readKey({ stdin }: Io, signal: AbortSignal): Promise<string> {
  signal.throwIfAborted();
  stdin.setRawMode?.(true);
  try {
    const typed = await nextText(stdin, signal);
    const [key] = FIRST.exec(typed) ?? [typed];
    if (key.length < typed.length) stdin.unshift(Buffer.from(typed.slice(key.length)));
    if (key === CTRL_C || key === '') throw interrupted();
    return key;
  } finally {
    // Node restores the mode itself when the process ends in another way.
    stdin.setRawMode?.(false);
  }
}

/** Empty at the end of the input. */
function nextText(stdin: Io['stdin'], signal: AbortSignal): Promise<string> {
  if (stdin.readableEnded || stdin.destroyed) return Promise.resolve('');
  return new Promise((resolve, reject) => {
    const onData = (data: Buffer | string) => end(() => resolve(data.toString()));
    const onEnd = () => end(() => resolve(''));
    const onAbort = () => end(() => reject(signal.reason as Error));
    const end = (settle: () => void) => {
      stdin.pause();
      stdin.off('data', onData).off('end', onEnd).off('close', onEnd).off('error', onEnd);
      signal.removeEventListener('abort', onAbort);
      settle();
    };
    signal.addEventListener('abort', onAbort);
    stdin.on('data', onData).on('end', onEnd).on('close', onEnd).on('error', onEnd);
    stdin.resume();
  });
}
