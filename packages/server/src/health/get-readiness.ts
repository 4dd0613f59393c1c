import { sql } from 'kysely';
import Type from 'typebox';
import type { Context } from '../context.ts';
import { within } from '../deadline.ts';
import { ApiError } from '../http/errors.ts';
import { read } from '../http/operation.ts';
import { Ok } from '../http/schemas.ts';
import { StorageRefusesError } from '../storage/object-store.ts';

const LIMIT_MS = 3_000;
/** Anybody may ask, and no limit counts it: what was found is found for everybody who asks within a second. */
const KEPT_MS = 1_000;

interface Failing {
  name: string;
  /** What to do, where the part says it. */
  advice: string | null;
}

const known = new WeakMap<Context, { failing: Promise<Failing[]>; until: number }>();

function recentlyFailing(ctx: Context): Promise<Failing[]> {
  const last = known.get(ctx);
  if (last && performance.now() < last.until) return last.failing;
  const now = { failing: failingParts(ctx), until: Infinity };
  known.set(ctx, now);
  void now.failing.finally(() => {
    now.until = performance.now() + KEPT_MS;
  });
  return now.failing;
}

/** The parts that do not work now. */
async function failingParts(ctx: Context): Promise<Failing[]> {
  const checks: [string, Promise<unknown>][] = [
    ['database', sql`select 1`.execute(ctx.db)],
    ['storage', ctx.store.probe()],
    ['rate limiter', ctx.limits.probe()],
  ];
  const results = await Promise.all(
    checks.map(([name, check]) =>
      within(LIMIT_MS, check).then(
        () => null,
        (err: unknown) => {
          ctx.log.warn({ err }, `not ready: ${name}`);
          return { name, advice: err instanceof StorageRefusesError ? err.message : null };
        },
      ),
    ),
  );
  const failing = results.filter((found) => found !== null);
  // A process that only answers HTTP needs no runner: workers do its runs. Elsewhere the runner's status,
  // which is a second old at most, counts; it covers the sandbox limits that the configuration demands.
  // In a fleet runners are processes of their own: new work is refused while there is none.
  const isApiAlone = !ctx.config.roles.has('worker') && !ctx.config.roles.has('runner');
  return isApiAlone || ctx.fleet || ctx.runnerStatus()?.ok
    ? failing
    : [...failing, { name: 'sandbox', advice: null }];
}

export const getReadiness = read({
  name: 'health.getReadiness',
  summary: 'Whether every part works: database, object storage, rate limiter, sandbox',
  access: 'public',
  responses: { 200: Ok({ status: Type.Literal('ready') }) },
  async handle({ ctx }) {
    const failing = await recentlyFailing(ctx);
    if (failing.length) {
      const names = failing.map(({ name }) => name);
      const advice = failing.flatMap((part) => part.advice ?? []);
      const message = [`Not ready: ${names.join(', ')}.`, ...advice, "See the service's log."].join(' ');
      throw new ApiError('unavailable', message, { details: { failing: names } });
    }
    return { status: 200, body: { ok: true, status: 'ready' } };
  },
});
