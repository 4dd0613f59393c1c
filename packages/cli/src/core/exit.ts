/** Exit codes: scripts branch on them, so a code never changes its meaning. */
export const EXIT = {
  done: 0,
  /** The run, build, apply or command failed. */
  failed: 1,
  usage: 2,
  /** The service cannot be reached, or cannot work now. */
  unreachable: 3,
  /** Not signed in, or not allowed. */
  denied: 4,
  notFound: 5,
  /** An apply is conflicted, a head is stale, or a change contradicts the state. */
  conflict: 6,
  /** Refused because something is busy, or a limit is reached. */
  busy: 7,
  timeout: 124,
  interrupted: 130,
} as const;
export type Exit = (typeof EXIT)[keyof typeof EXIT];
