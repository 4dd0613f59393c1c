/** A status is a shape, a word and a colour. A status that this console does not know is shown as its word. */

type Tone = 'rest' | 'water' | 'wait' | 'fail' | 'done';

interface Look {
  shape: ShapeName;
  tone: Tone;
  word: string;
}
type ShapeName = keyof typeof SHAPES;

/** Drawn, since fonts have these signs in different sizes. 12 × 12. */
const SHAPES = {
  ring: <circle cx="6" cy="6" r="4" fill="none" stroke="currentColor" strokeWidth="1.5" />,
  quarter: (
    <>
      <circle cx="6" cy="6" r="4" fill="none" stroke="currentColor" strokeWidth="1.5" />
      <path d="M6 6V2a4 4 0 0 1 4 4z" fill="currentColor" />
    </>
  ),
  half: (
    <>
      <circle cx="6" cy="6" r="4" fill="none" stroke="currentColor" strokeWidth="1.5" />
      <path d="M6 2a4 4 0 0 1 0 8z" fill="currentColor" />
    </>
  ),
  diamond: <path d="M6 1l5 5-5 5-5-5z" fill="currentColor" />,
  bar: <path d="M4 1h4v10H4z" fill="currentColor" />,
  dot: <circle cx="6" cy="6" r="4.5" fill="currentColor" />,
  cross: <path d="M2.5 2.5l7 7m0-7l-7 7" fill="none" stroke="currentColor" strokeWidth="2" />,
  square: <path d="M2 2h8v8H2z" fill="none" stroke="currentColor" strokeWidth="1.5" />,
};

const look = (shape: ShapeName, tone: Tone, word: string): Look => ({ shape, tone, word });

/** All statuses of the API, of whatever they are: the same word means the same everywhere. */
const LOOKS: Record<string, Look> = {
  queued: look('ring', 'rest', 'queued'),
  accepted: look('ring', 'rest', 'accepted'),
  pending: look('ring', 'rest', 'pending'),
  preparing: look('quarter', 'water', 'preparing'),
  starting: look('quarter', 'water', 'starting'),
  running: look('half', 'water', 'running'),
  merging: look('half', 'water', 'merging'),
  building: look('half', 'water', 'building'),
  repairing: look('half', 'water', 'repairing'),
  waiting: look('diamond', 'wait', 'waiting'),
  conflicted: look('diamond', 'wait', 'conflicted'),
  blocked: look('bar', 'wait', 'blocked'),
  ready: look('dot', 'done', 'ready'),
  completed: look('dot', 'done', 'completed'),
  applied: look('dot', 'done', 'applied'),
  approved: look('dot', 'done', 'approved'),
  valid: look('dot', 'done', 'valid'),
  failed: look('cross', 'fail', 'failed'),
  denied: look('cross', 'fail', 'denied'),
  cancelled: look('square', 'rest', 'cancelled'),
  expired: look('square', 'rest', 'expired'),
  revoked: look('square', 'rest', 'revoked'),
  stopped: look('square', 'rest', 'stopped'),
  archived: look('square', 'rest', 'archived'),
  open: look('ring', 'water', 'open'),
  merged: look('dot', 'done', 'merged'),
  closed: look('square', 'rest', 'closed'),
  current: look('dot', 'done', 'current'),
  diverged: look('diamond', 'wait', 'diverged'),
  observing: look('quarter', 'water', 'observing'),
  waiting_checks: look('quarter', 'water', 'waiting for checks'),
  fixing: look('half', 'water', 'fixing'),
  finalizing: look('half', 'water', 'merging'),
  error: look('cross', 'fail', 'error'),
  disabled: look('square', 'rest', 'off'),
  ok: look('dot', 'done', 'ok'),
  degraded: look('diamond', 'wait', 'degraded'),
  down: look('cross', 'fail', 'down'),
  succeeded: look('dot', 'done', 'succeeded'),
  uncertain: look('diamond', 'wait', 'uncertain'),
};

const COLOURS: Record<Tone, string> = {
  rest: 'text-ink-3',
  water: 'text-water',
  wait: 'text-wait',
  fail: 'text-fail',
  done: 'text-done',
};

/** The colour of a status, for what is drawn in another shape: a class that sets `color`. */
export const colourOf = (status: string): string => COLOURS[LOOKS[status]?.tone ?? 'rest'];

/** Beside the version that is an app's head. */
export const HeadMark = () => (
  <span className="shrink-0 rounded bg-water-wash px-1.5 text-11 text-water">head</span>
);

/** Beside a thread that is a fork: it may have the other one's title. */
export const ForkMark = () => (
  <span className="shrink-0 rounded border border-line px-1 text-11 text-ink-3">fork</span>
);

/** `word`: what to say instead of the status's own word. `bare`: for a place where the word is nearby. */
export function Status({ status, word, bare = false }: { status: string; word?: string; bare?: boolean }) {
  const known = LOOKS[status];
  const said = word ?? known?.word ?? status;
  return (
    <span className={`inline-flex items-baseline gap-1.5 whitespace-nowrap ${colourOf(status)}`}>
      <svg
        width="12"
        height="12"
        viewBox="0 0 12 12"
        aria-hidden={!bare}
        {...(bare && { role: 'img', 'aria-label': said })}
        className={`shrink-0 self-center ${known?.shape === 'half' ? 'animate-turn' : ''}`}
      >
        {SHAPES[known?.shape ?? 'ring']}
      </svg>
      {!bare && <span>{said}</span>}
    </span>
  );
}
