import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { every } from './every.ts';

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

const neverFails = (error: unknown) => {
  throw error;
};

describe('every', () => {
  it('starts the first round after the interval, and one per interval', async () => {
    const round = vi.fn(async () => {});
    const loop = every(100, round, { onFailure: neverFails });
    expect(round).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(99);
    expect(round).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(201);
    expect(round).toHaveBeenCalledTimes(3);
    await loop.stop();
  });

  it('skips the starts that a long round misses', async () => {
    let end = () => {};
    const round = vi.fn(
      () =>
        new Promise<void>((resolve) => {
          end = resolve;
        }),
    );
    const loop = every(100, round, { onFailure: neverFails });
    await vi.advanceTimersByTimeAsync(350);
    expect(round).toHaveBeenCalledTimes(1);
    loop.runNow();
    expect(round).toHaveBeenCalledTimes(1);
    end();
    await vi.advanceTimersByTimeAsync(50);
    expect(round).toHaveBeenCalledTimes(2);
    end();
    await loop.stop();
  });

  it('runs a round at once when asked', async () => {
    const round = vi.fn(async () => {});
    const loop = every(100, round, { onFailure: neverFails });
    loop.runNow();
    expect(round).toHaveBeenCalledTimes(1);
    await vi.advanceTimersByTimeAsync(100);
    expect(round).toHaveBeenCalledTimes(2);
    await loop.stop();
  });

  it.each([
    ['rejects', () => Promise.reject(new Error('no'))],
    [
      'throws before its first wait',
      () => {
        throw new Error('no');
      },
    ],
  ])('reports a round that %s, and goes on', async (_, round) => {
    const onFailure = vi.fn();
    const loop = every(100, round, { onFailure });
    await vi.advanceTimersByTimeAsync(200);
    expect(onFailure.mock.calls).toEqual([[new Error('no')], [new Error('no')]]);
    await loop.stop();
  });

  it('waits for the round under way when stopped, and starts no further one', async () => {
    let end = () => {};
    const round = vi.fn(
      () =>
        new Promise<void>((resolve) => {
          end = resolve;
        }),
    );
    const loop = every(100, round, { onFailure: neverFails });
    await vi.advanceTimersByTimeAsync(100);
    const onStopped = vi.fn();
    const stopped = loop.stop().then(onStopped);
    await vi.advanceTimersByTimeAsync(500);
    expect(onStopped).not.toHaveBeenCalled();
    end();
    await stopped;
    expect(round).toHaveBeenCalledTimes(1);
  });

  it('starts no further round once its signal is aborted', async () => {
    const shutdown = new AbortController();
    const round = vi.fn(async () => {});
    every(100, round, { onFailure: neverFails, until: shutdown.signal });
    await vi.advanceTimersByTimeAsync(100);
    shutdown.abort();
    await vi.advanceTimersByTimeAsync(500);
    expect(round).toHaveBeenCalledTimes(1);
  });

  it('skips rounds that are not for this process to do', async () => {
    let isOurs = false;
    const round = vi.fn(async () => {});
    const loop = every(100, round, { onFailure: neverFails, when: () => isOurs });
    loop.runNow();
    await vi.advanceTimersByTimeAsync(250);
    expect(round).not.toHaveBeenCalled();
    isOurs = true;
    await vi.advanceTimersByTimeAsync(100);
    expect(round).toHaveBeenCalledTimes(1);
    await loop.stop();
  });
});
