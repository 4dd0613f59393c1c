/** A call's lease, renewed by the process that relays it; when it is over, nobody does. */
export const LEASE_SECONDS = 20;
