/**
 * Preloaded into the service. It offsets the database's times by the milliseconds in the file that TORTURE_CLOCK names,
 * so the clock steps for all processes at once, like the clock of their database.
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
