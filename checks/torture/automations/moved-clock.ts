/**
 * Preloaded into the service: its times of the database are off by the milliseconds that the file in TORTURE_CLOCK
 * has. So the clock of all processes steps at once, as the one of their database does.
 */
import { registerHooks } from 'node:module';

const MOVED = `
import { readFileSync } from 'node:fs';
import { sql } from 'kysely';
const offsetMs = () => Number(readFileSync(process.env.TORTURE_CLOCK, 'utf8'));
export const databaseNow = () => sql\`(now() + \${offsetMs()} * interval '1 millisecond')\`;
`;

registerHooks({
  load: (url, context, next) =>
    url.endsWith('/packages/server/src/clock.ts')
      ? { format: 'module', source: MOVED, shortCircuit: true }
      : next(url, context),
});
