/** `headrace doctor --remote`: the service through its API, as a command reaches it. */
import { HeadraceError } from '@headrace/client';
import { VERSION } from '../core/version.ts';
import type { Cli } from '../core/cli.ts';
import type { Exit } from '../core/exit.ts';
import { oneLine } from '../terminal/escape.ts';
import { lasting } from '../terminal/times.ts';
import { showFindings } from './findings.ts';
import type { Finding } from './findings.ts';

/** A service that is not ready answers 503, which the client repeats for so long. */
const READY_LIMIT_MS = 3_000;
/** Webhooks' signatures and times in tables suffer from more. */
const CLOCK_MS = 30_000;

/** Ends as other commands do where the service is away, or does not know the key. */
export async function examineService(cli: Cli): Promise<Exit> {
  const { client, target, signal } = cli;
  const from = Date.now();
  const health = await client.health.get({ signal }).asResponse();
  const tookMs = Date.now() - from;
  const { version } = (await health.json()) as { version: string };
  const ready = await readiness(cli);
  await client.apps.list({ limit: 1, signal }).catch((error: unknown) => {
    // Signed in, for the Direct API alone.
    if (!(error instanceof HeadraceError) || error.status !== 403) throw error;
  });
  return showFindings(cli, [
    {
      name: 'service',
      ok: true,
      detail: `${target.url} answers in ${lasting(tookMs)}, version ${oneLine(version)}`,
      warnings: version === VERSION ? [] : [`this command line has version ${VERSION}`],
    },
    ready,
    { name: 'sign-in', ok: true, detail: `by ${target.from ?? 'a key'}`, warnings: [] },
    clock(health.headers.get('date'), from + tookMs / 2),
  ]);
}

async function readiness({ client, signal }: Cli): Promise<Finding> {
  try {
    await client.health.ready({ signal, timeoutMs: READY_LIMIT_MS });
    return { name: 'ready', ok: true, detail: 'database, storage and sandboxes work', warnings: [] };
  } catch (error) {
    if (!(error instanceof HeadraceError)) throw error;
    return { name: 'ready', ok: false, detail: oneLine(error.message), warnings: [] };
  }
}

/** `date` has whole seconds. */
function clock(date: string | null, nowMs: number): Finding {
  const differenceMs = date === null ? Number.NaN : Math.abs(Date.parse(date) + 500 - nowMs);
  const isFar = differenceMs > CLOCK_MS;
  return {
    name: 'clock',
    ok: true,
    detail: Number.isNaN(differenceMs)
      ? 'the service does not say its time'
      : isFar
        ? `${lasting(differenceMs)} apart`
        : 'the same here and there',
    warnings: isFar ? ['set the clocks by NTP: times and signatures are compared'] : [],
  };
}
