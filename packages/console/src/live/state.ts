/**
 * What the mark in the header says, as a function of the connection:
 *
 *   the session has ended                       signed-out
 *   cursors were refused, data is read again    expired
 *   the browser is offline                      offline
 *   connected                                   live; behind while it catches up, or after a missed heartbeat
 *   not connected, never was                    connecting; offline after 3 s of failures
 *   not connected any more                      behind; offline after 3 s of failures
 *   not connected, the service asks to wait     as above, but never offline
 */
export type LiveState = 'connecting' | 'live' | 'behind' | 'offline' | 'expired' | 'signed-out';

export interface LiveStatus {
  state: LiveState;
  /** When what is shown was last known to be true; milliseconds since 1970. */
  dataAt: number | null;
  reason: string | null;
  /** When history was lost in this session: events between two moments are unknown. */
  gapAt: number | null;
  nextAttemptAt: number | null;
}

/** Times are of `performance.now`. */
export interface Link {
  phase: 'connecting' | 'open' | 'waiting';
  isRecovering: boolean;
  isCatchingUp: boolean;
  isOnline: boolean;
  /** The service answers, but asks to wait. */
  isLimited: boolean;
  /** The beginning of the time without a connection. */
  lostAt: number;
  heardAt: number | null;
  nextAttemptAt: number | null;
  reason: string | null;
  /** How long a working connection may be silent. */
  silenceMs: number;
}

const PATIENCE_MS = 3_000;

export const newLink = (now: number, silenceMs: number): Link => ({
  phase: 'connecting',
  isRecovering: false,
  isCatchingUp: false,
  isOnline: true,
  isLimited: false,
  lostAt: now,
  heardAt: null,
  nextAttemptAt: null,
  reason: null,
  silenceMs,
});

/** See the table above. */
export function stateOf(link: Link, now: number): LiveState {
  const { phase, heardAt, reason } = link;
  if (!link.isOnline) return 'offline';
  if (phase === 'open') {
    if (link.isRecovering) return 'expired';
    const isSilent = heardAt !== null && now - heardAt > link.silenceMs;
    return isSilent || link.isCatchingUp ? 'behind' : 'live';
  }
  if (reason !== null && !link.isLimited && now - link.lostAt > PATIENCE_MS) return 'offline';
  if (link.isRecovering) return 'expired';
  return heardAt === null ? 'connecting' : 'behind';
}

/** The later, the worse. */
const STATES: LiveState[] = ['live', 'connecting', 'behind', 'expired', 'offline'];

/** The worst of several connections; but where one is open, the service is there. */
export function stateOfAll(links: readonly Link[], now: number): LiveState {
  const states = links.map((link) => stateOf(link, now));
  const worst = STATES.findLast((state) => states.includes(state))!;
  const isThere = links.some(({ phase, isOnline }) => phase === 'open' && isOnline);
  return worst === 'offline' && isThere ? 'behind' : worst;
}
