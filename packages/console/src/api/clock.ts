/** The service's time: by it pages say how long ago something was, since a machine's clock may be off, or jump. */

/** Of an answer's `Date`, which has no fraction. */
const SECOND_MS = 1_000;

/** The service's time at the origin of `performance.now`. */
let origin: number | null = null;

/** Milliseconds since 1970; by the machine's clock until the service has answered. */
export const serviceNow = (): number => (origin === null ? Date.now() : origin + performance.now());

/** Learns from an answer's `Date`. The request began at this time of `performance.now`. */
export function noticeDate(date: string | null, beganAt: number): void {
  const said = Date.parse(date ?? '');
  if (Number.isNaN(said)) return;
  // The answer was made between then and now.
  const [earliest, latest] = [said - performance.now(), said + SECOND_MS - beganAt];
  origin = Math.min(latest, Math.max(earliest, origin ?? earliest));
}
