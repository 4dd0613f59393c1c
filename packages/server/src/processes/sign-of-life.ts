/** Each process writes one row every few seconds: others see who lives, and where sandboxes work. */
import { hostname } from 'node:os';
import type { Context } from '../context.ts';
import { every } from '../jobs/every.ts';
import { reportOf } from '../runner/report-of.ts';
import { deleteProcess, recordProcess } from './store.ts';

const WRITE_MS = 5_000;
/** A runner that broke, or works again, is written at the next look. */
const LOOK_MS = 1_000;

/** Writes at once, and then until it is stopped. */
export async function startSignsOfLife(ctx: Context): Promise<{ stop(): Promise<void> }> {
  const { roles } = ctx.config;
  let written = { at: -Infinity, sandbox: '' };
  const look = async () => {
    const status = roles.has('worker') || roles.has('runner') ? ctx.runnerStatus() : null;
    const sandbox = status ? (status.ok ? 'works' : 'broken') : 'unknown';
    if (sandbox === written.sandbox && performance.now() - written.at < WRITE_MS) return;
    const living = await recordProcess(ctx.db, {
      id: ctx.processId,
      host: hostname(),
      roles: [...roles],
      sandbox,
      runner: status && reportOf(status),
    });
    ctx.bus.setProcesses(living);
    written = { at: performance.now(), sandbox };
  };
  await look();
  const looking = every(LOOK_MS, look, {
    onFailure: (err) => ctx.log.debug({ err }, 'the sign of life was not written'),
  });
  return {
    async stop() {
      await looking.stop();
      await deleteProcess(ctx.db, ctx.processId).catch(() => {});
    },
  };
}
