/**
 * A call's lease, renewed by the process that relays it; when it is over, nobody does. It begins when the
 * rows of its money are locked, not when the wait for them did.
 */
export const LEASE_SECONDS = 20;
