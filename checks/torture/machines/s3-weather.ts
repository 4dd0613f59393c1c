/** Which exchange with the object storage gets which fault. */
import type { Random } from '../../harness/random.ts';
import { startFaultProxy } from '../../../packages/server/src/storage/fault-proxy.fixture.ts';
import type { Fault, FaultProxy } from '../../../packages/server/src/storage/fault-proxy.fixture.ts';

/** Of a thousand exchanges. A stall is rare: each one costs the service the time after which it notices. */
const SHARES: [number, (after: number) => Fault][] = [
  [80, () => ({ kind: 'slow-down' })],
  [40, (after) => ({ kind: 'reset', side: 'request', after })],
  [40, (after) => ({ kind: 'reset', side: 'response', after })],
  [100, (after) => ({ kind: 'cut', after })],
  [60, (after) => ({ kind: 'garble', after: 700 + after })],
  [3, (after) => ({ kind: 'stall', side: 'request', after })],
  [3, (after) => ({ kind: 'stall', side: 'response', after })],
];

export interface StoreWeather extends FaultProxy {
  /** `away`: nothing gets through. */
  set(weather: 'fair' | 'rough' | 'away'): void;
  exchanges(): number;
}

export async function startWeather(target: string, random: Random): Promise<StoreWeather> {
  let now: 'fair' | 'rough' | 'away' = 'fair';
  let exchanges = 0;
  const proxy = await startFaultProxy(target, (head) => {
    exchanges++;
    if (now === 'fair') return null;
    if (now === 'away') return { kind: 'reset', side: 'request', after: 0 };
    let at = random.below(1_000);
    for (const [share, make] of SHARES) {
      // Most answers are small.
      if (at < share) {
        const fault = make(random.below(random.pick([400, 2_000, 200_000])));
        // A part of an object has no checksum of its own; TLS keeps its bytes.
        return fault.kind === 'garble' && /^range:/im.test(head) ? null : fault;
      }
      at -= share;
    }
    return null;
  });
  return Object.assign(proxy, {
    set: (weather: typeof now) => {
      now = weather;
    },
    exchanges: () => exchanges,
  });
}
