import { sql } from 'kysely';
import Type from 'typebox';
import type { Context } from '../context.ts';
import { within } from '../deadline.ts';
import { ApiError } from '../http/errors.ts';
import { read } from '../http/operation.ts';
import { Ok } from '../http/schemas.ts';

const LIMIT_MS = 3_000;
/** Anybody may ask, and no limit counts it: what was found is found for everybody who asks within a second. */
const KEPT_MS = 1_000;

const known = new WeakMap<Context, { failing: Promise<string[]>; until: number }>();

function recentlyFailing(ctx: Context): Promise<string[]> {
  const last = known.get(ctx);
  if (last && performance.now() < last.until) return last.failing;
  const now = { failing: failingParts(ctx), until: Infinity };
  known.set(ctx, now);
  void now.failing.finally(() => {
    now.until = performance.now() + KEPT_MS;
  });
  return now.failing;
}

/** Names of the parts that do not work now. */
async function failingParts(ctx: Context): Promise<string[]> {
  const checks: [string, Promise<unknown>][] = [
    ['database', sql`select 1`.execute(ctx.db)],
    ['storage', ctx.store.probe()],
    ['rate limiter', ctx.limits.probe()],
  ];
  const results = await Promise.all(
    checks.map(async ([name, check]) => ({
      name,
      works: await within(LIMIT_MS, check).then(
        () => true,
        () => false,
      ),
    })),
  );
  const failing = results.filter((r) => !r.works).map((r) => r.name);
  // A process that only answers HTTP needs no runner: workers do its runs. Elsewhere the runner's status,
  // which is a second old at most, counts; it covers the sandbox limits that the configuration demands.
  const isApiAlone = !ctx.config.roles.has('worker') && !ctx.config.roles.has('runner');
  return isApiAlone || ctx.runnerStatus()?.ok ? failing : [...failing, 'sandbox'];
}

export const getReadiness = read({
  name: 'health.getReadiness',
  summary: 'Whether every part works: database, object storage, rate limiter, sandbox',
  access: 'public',
  responses: { 200: Ok({ status: Type.Literal('ready') }) },
  async handle({ ctx }) {
    const failing = await recentlyFailing(ctx);
    if (failing.length)
      throw new ApiError('unavailable', `Not ready: ${failing.join(', ')}. See the service's log.`, {
        details: { failing },
      });
    return { status: 200, body: { ok: true, status: 'ready' } };
  },
});
