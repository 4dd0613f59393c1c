import { createParser } from 'eventsource-parser';
import type { EventSourceMessage } from 'eventsource-parser';

/**
 * The frames of a response's body, until it ends. Throws when nothing arrives for `silenceMs`, or the
 * connection is lost.
 */
export async function* framesOf(
  body: ReadableStream<Uint8Array>,
  silenceMs: number,
): AsyncGenerator<EventSourceMessage> {
  const frames: EventSourceMessage[] = [];
  const parser = createParser({ onEvent: (frame) => frames.push(frame) });
  const decoder = new TextDecoder();
  const reader = body.getReader();
  try {
    for (;;) {
      const { done, value } = await withLimit(reader.read(), silenceMs);
      if (done) return;
      parser.feed(decoder.decode(value, { stream: true }));
      yield* frames.splice(0);
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}

async function withLimit<T>(promise: Promise<T>, milliseconds: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('the stream is silent')), milliseconds);
  });
  try {
    return await Promise.race([promise, limit]);
  } finally {
    clearTimeout(timer);
  }
}
