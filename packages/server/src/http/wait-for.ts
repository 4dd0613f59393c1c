import type { Bus, Channel } from '../bus.ts';

const LOOK_MS = 1_000;

/**
 * Reads a resource until it has reached its end, or `waitSeconds` have passed, or the caller has gone: on
 * wake-ups that name it and once a second. Returns it as it stands then.
 */
export async function waitFor<T>(
  bus: Bus,
  on: { channel: Extract<Channel, 'resources' | 'operations'>; id: string },
  waitSeconds: number | undefined,
  signal: AbortSignal,
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
