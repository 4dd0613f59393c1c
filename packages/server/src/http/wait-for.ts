import type { Bus, Channel } from '../bus.ts';

const LOOK_MS = 1_000;

/**
 * Reads a resource until it has reached its end, or `waitSeconds` have passed, or the caller has gone: on wake-ups of `channels` and once
 * a second. Returns it as it stands then.
 */
export async function waitFor<T>(bus: Bus, channels: Channel[], waitSeconds: number | undefined, signal: AbortSignal, load: () => Promise<T>, isOver: (value: T) => boolean): Promise<T> {
  const deadline = Date.now() + (waitSeconds ?? 0) * 1000;
  let wake = () => {};
  let isWoken = false;
  const onWake = () => { isWoken = true; wake(); };
  const unlisten = channels.map((channel) => bus.listen(channel, onWake));
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
        wake = () => { clearTimeout(timer); resolve(); };
      });
    }
  } finally {
    for (const stop of unlisten) stop();
    signal.removeEventListener('abort', onWake);
  }
}
