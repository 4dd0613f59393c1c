export const SHORT_PACE = { lookMs: 100, quietMs: 1_600, fullMs: 2_000 };
/** 25 seconds and what a capture takes until it is stored are 30: the same allowance here. */
export const LIMIT_MS = SHORT_PACE.fullMs + 5_000;
