/** A thread's events as they come. */
import type { IncomingMessage } from 'node:http';
import type { Caller } from '../../harness/http.ts';

const WAIT_MS = 60_000;

/** `at` is when it was read, by performance.now(). */
export interface Frame {
  event: string;
  data: Record<string, unknown>;
  at: number;
}
export interface Frames {
  /** All that came, oldest first. */
  seen: readonly Frame[];
  first(wanted: (frame: Frame) => boolean): Promise<Frame>;
  close(): void;
}

/** The thread's stream; `first` waits for a frame that comes after it was asked for. */
export async function openFrames(service: Caller, app: string, thread: string): Promise<Frames> {
  const stream: IncomingMessage = await service.open(
    `${app}/events/stream?threadId=${thread.slice(thread.lastIndexOf('/') + 1)}`,
  );
  const waiting = new Map<(frame: Frame) => boolean, (frame: Frame) => void>();
  const seen: Frame[] = [];
  let rest = '';
  stream
    .setEncoding('utf8')
    .on('data', (part: string) => {
      const at = performance.now();
      const blocks = (rest + part).split('\n\n');
      rest = blocks.pop()!;
      for (const block of blocks) {
        const fields = Object.fromEntries(
          block
            .split('\n')
            .map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trimStart()]),
        );
        const frame: Frame = {
          event: fields['event'] ?? '',
          data: JSON.parse(fields['data'] ?? '{}') as Record<string, unknown>,
          at,
        };
        seen.push(frame);
        for (const [wanted, found] of waiting)
          if (wanted(frame)) {
            waiting.delete(wanted);
            found(frame);
          }
      }
    })
    .on('error', () => {
      /* closed */
    });
  return {
    seen,
    first: (wanted) =>
      new Promise((resolve, reject) => {
        const timer = setTimeout(() => reject(new Error('A frame did not come in time')), WAIT_MS);
        waiting.set(wanted, (frame) => {
          clearTimeout(timer);
          resolve(frame);
        });
      }),
    close: () => stream.destroy(),
  };
}
