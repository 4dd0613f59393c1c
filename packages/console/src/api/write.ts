/** Writes from a page: one key until answered, the fault as words, the reason why writing is off. */
import { HeadraceError, UncertainError } from '@headrace/client';
import type { WriteOptions } from '@headrace/client';
import { useMutation } from '@tanstack/react-query';
import { useMemo, useRef } from 'react';
import { useLiveStatus } from '../live/index.ts';
import { writeFaultOf } from './faults.ts';
import type { Fault } from './faults.ts';
import { extend, keyOf, newKey, settle } from './pending.ts';

/** A longer wait would look like nothing at all. */
const WRITE_TIMEOUT_MS = 60_000;

export interface Write<I, T> {
  send: (input: I) => void;
  sendAsync: (input: I) => Promise<T>;
  isSending: boolean;
  fault: Fault | null;
  reset: () => void;
}

/**
 * `intent` names the write for its key: what it is and of which resource ("send thr_…"); the input is added.
 * What fails keeps the caller's input: nothing is cleared before `onDone`. `isSecret`: nothing of the input outlives the
 * component, not even a hash.
 */
export function useWrite<I, T>({
  intent,
  call,
  onDone,
  isSecret = false,
}: {
  intent: string;
  call: (input: I, options: WriteOptions) => PromiseLike<T>;
  onDone?: (answer: T, input: I) => void;
  isSecret?: boolean;
}): Write<I, T> {
  const held = useRef<Held | null>(null);
  const mutation = useMutation({
    mutationFn: (input: I) => {
      const named = `${intent} ${JSON.stringify(input ?? null)}`;
      const send = (options: WriteOptions) => call(input, options);
      return isSecret ? onceHere(held, named, send) : once(named, send);
    },
    onSuccess: (answer: T, input: I) => {
      onDone?.(answer, input);
      // Until another one, the library keeps what was sent.
      if (isSecret) mutation.reset();
    },
    ...(isSecret && { gcTime: 0 }),
    // `call` repeats by itself what may be repeated.
    retry: false,
    networkMode: 'always',
  });
  const { error } = mutation;
  // One for each failure: who tells of it does so once.
  const fault = useMemo(() => (error ? writeFaultOf(error) : null), [error]);
  return {
    send: (input) => mutation.mutate(input),
    sendAsync: (input) => mutation.mutateAsync(input),
    isSending: mutation.isPending,
    fault,
    reset: () => mutation.reset(),
  };
}

/** One write under a kept key. The key is dropped when the service has answered, whatever it said, and after a while. */
export async function once<T>(intent: string, call: (options: WriteOptions) => PromiseLike<T>): Promise<T> {
  const idempotencyKey = await keyOf(intent);
  try {
    const answer = await call({ idempotencyKey, timeoutMs: WRITE_TIMEOUT_MS });
    await settle(intent);
    return answer;
  } catch (error) {
    await (isAnswered(error) ? settle(intent) : extend(intent));
    throw error;
  }
}

/** A write without an answer, and its key. */
interface Held {
  intent: string;
  key: string;
}

/** As `once`, but the key is kept by the caller alone: what it is for may be in no storage. */
async function onceHere<T>(
  held: { current: Held | null },
  intent: string,
  call: (options: WriteOptions) => PromiseLike<T>,
): Promise<T> {
  if (held.current?.intent !== intent) held.current = { intent, key: newKey() };
  try {
    const answer = await call({ idempotencyKey: held.current.key, timeoutMs: WRITE_TIMEOUT_MS });
    held.current = null;
    return answer;
  } catch (error) {
    if (isAnswered(error)) held.current = null;
    throw error;
  }
}

/** A refusal is an answer, unless an earlier attempt may have done it: the corrected write is another one. */
export const isAnswered = (error: unknown): boolean =>
  error instanceof HeadraceError &&
  !(error instanceof UncertainError) &&
  error.status >= 400 &&
  error.status < 500 &&
  !error.retryable &&
  error.status !== 401;

/** Why writes are off now; null while they are not. Text that is typed stays. */
export function useOffReason(): string | null {
  const { state } = useLiveStatus();
  if (state === 'offline') return 'Offline: what you see may be old. Your text is kept.';
  if (state === 'signed-out') return 'Signed out: sign in to go on.';
  return null;
}
