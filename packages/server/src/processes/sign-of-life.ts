/** Each process writes one row every few seconds: others see who lives, and where sandboxes work. */
import { hostname } from 'node:os';
import type { Context } from '../context.ts';
import { every } from '../jobs/every.ts';
import { reportOf } from '../runner/report-of.ts';
import { deleteProcess, recordFirst, recordProcess } from './store.ts';
import type { SignOfLife } from './store.ts';

const WRITE_MS = 5_000;
/** A runner that broke, or works again, is written at the next look. */
const LOOK_MS = 1_000;

/**
 * A worker that the others cannot share jobs with: each takes any job, and can only ask its own runner about it, or
 * those of its fleet.
 */
class WorkerElsewhere extends Error {
  constructor(host: string, isInFleet: boolean) {
    super(
      isInFleet
        ? `A worker without certificates runs on this database, on ${host}: stop it first. One that was killed counts for 30 seconds.`
        : `Another worker runs on this database, on ${host}, with another runner: they would take each other's jobs. ` +
            'Stop it (one that was killed counts for 30 seconds), give both the same HEADRACE_DATA_DIR where they share a ' +
            'machine, or run many machines with certificates: docs/guides/many-machines.md.',
    );
    this.name = 'WorkerElsewhere';
  }
}

/** Writes at once, and then until it is stopped. Throws where this is a worker beside one that it must not be beside. */
export async function startSignsOfLife(ctx: Context): Promise<{ stop(): Promise<void> }> {
  const { roles } = ctx.config;
  const isInFleet = ctx.config.machines !== null;
  let written = { at: -Infinity, sandbox: '' };
  let isFirst = roles.has('worker');
  const look = async () => {
    const status = roles.has('worker') || roles.has('runner') ? ctx.runnerStatus() : null;
    const sandbox = status ? (status.ok ? 'works' : 'broken') : 'unknown';
    if (sandbox === written.sandbox && performance.now() - written.at < WRITE_MS) return;
    const sign: SignOfLife = {
      id: ctx.processId,
      host: hostname(),
      roles: [...roles],
      sandbox,
      runner: status && reportOf(status),
    };
    if (isFirst) {
      const elsewhere = await recordFirst(ctx.db, sign, isInFleet);
      if (elsewhere !== null) throw new WorkerElsewhere(elsewhere, isInFleet);
      isFirst = false;
    }
    ctx.bus.setProcesses(await recordProcess(ctx.db, sign));
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
