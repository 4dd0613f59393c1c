/**
 * The lease of a claim: renewed while its work goes on, so that nobody else takes the claim for one whose
 * process died.
 */
import type { Context } from '../context.ts';
import { LEASE_SECONDS, renewClaim } from './store.ts';
import type { ClaimId } from './store.ts';

const RENEW_MS = 4_000;
/**
 * The work ends by itself this long before others may think so, on this process's own stopwatch: clocks are
 * not compared.
 */
const MARGIN_MS = 3_000;

interface Lease {
  /** Aborted when the lease was lost, or could not be renewed for nearly its length. */
  signal: AbortSignal;
  release(): void;
}

/**
 * Keeps the lease that a claim of this process has since `began` (performance.now()). A claim without one
 * is never lost.
 */
export function holdLease(ctx: Pick<Context, 'db'>, claim: ClaimId, lease: { began: number } | null): Lease {
  const lost = new AbortController();
  if (!lease) return { signal: lost.signal, release() {} };
  const expireAfter = (began: number) =>
    setTimeout(() => lost.abort(), began + LEASE_SECONDS * 1000 - MARGIN_MS - performance.now());
  let expiry = expireAfter(lease.began);
  const renew = async () => {
    const began = performance.now();
    const isRenewed = await renewClaim(ctx.db, claim);
    if (isReleased) return;
    clearTimeout(expiry);
    if (isRenewed) expiry = expireAfter(began);
    else lost.abort();
  };
  let isReleased = false;
  const timer = setInterval(() => {
    void renew().catch(() => {});
  }, RENEW_MS);
  return {
    signal: lost.signal,
    release() {
      isReleased = true;
      clearInterval(timer);
      clearTimeout(expiry);
    },
  };
}
