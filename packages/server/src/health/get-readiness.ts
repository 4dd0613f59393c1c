import { sql } from 'kysely';
import Type from 'typebox';
import type { Context } from '../context.ts';
import { ApiError } from '../http/errors.ts';
import { read } from '../http/operation.ts';
import { Ok } from '../http/schemas.ts';

const LIMIT_MS = 3_000;

async function within(check: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => { timer = setTimeout(() => reject(new Error('late')), LIMIT_MS); });
  return Promise.race([check, late]).then(() => true, () => false).finally(() => clearTimeout(timer));
}

/** Parts that do not work now, by name. */
async function failingParts(ctx: Context): Promise<string[]> {
  const checks: [string, Promise<unknown>][] = [
    ['database', sql`select 1`.execute(ctx.db)],
    ['storage', ctx.store.probe()],
  ];
  const results = await Promise.all(checks.map(async ([name, check]) => ({ name, works: await within(check) })));
  const failing = results.filter((r) => !r.works).map((r) => r.name);
  // A process that only answers has no runner to know of: its runs are the workers'. Elsewhere what was said a second ago at most, judged
  // by what the configuration demands of the sandboxes' limits.
  const isApiAlone = !ctx.config.roles.has('worker') && !ctx.config.roles.has('runner');
  return isApiAlone || ctx.runnerStatus()?.ok ? failing : [...failing, 'sandbox'];
}

export const getReadiness = read({
  name: 'health.getReadiness',
  summary: 'Whether every part works: database, object storage, sandbox',
  access: 'public',
  responses: { 200: Ok({ status: Type.Literal('ready') }) },
  async handle({ ctx }) {
    const failing = await failingParts(ctx);
    if (failing.length) throw new ApiError('unavailable', `Not ready: ${failing.join(', ')}. See the service's log.`, { details: { failing } });
    return { status: 200, body: { ok: true, status: 'ready' } };
  },
});
