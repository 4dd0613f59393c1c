import type { Bus, Channel } from '../bus.ts';

const LOOK_MS = 1_000;

interface Wait {
  bus: Bus;
  /** The wake-ups after which the resource is read. */
  on: { channel: Extract<Channel, 'resources' | 'operations'>; id: string };
  waitSeconds: number | undefined;
  /** Aborted when the caller has gone. */
  signal: AbortSignal;
}

/**
 * Reads a resource until it has reached its end, the time is over, or the caller has gone: on wake-ups that
 * name it and once a second. Returns what it read last.
 */
export async function waitFor<T>(
  { bus, on, waitSeconds, signal }: Wait,
  load: () => Promise<T>,
  isOver: (value: T) => boolean,
): Promise<T> {
  const deadline = Date.now() + (waitSeconds ?? 0) * 1000;
  let wake = () => {};
  let isWoken = false;
  const onWake = () => {
    isWoken = true;
    wake();
  };
  const unlisten = bus.listen(on.channel, (id) => {
    if (id === on.id) onWake();
  });
  signal.addEventListener('abort', onWake);
  try {
    for (;;) {
      isWoken = false;
      const value = await load();
      const left = deadline - Date.now();
      if (isOver(value) || left <= 0 || signal.aborted) return value;
      if (isWoken) continue;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, Math.min(left, LOOK_MS));
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  } finally {
    unlisten();
    signal.removeEventListener('abort', onWake);
  }
}
