import { existsSync } from 'node:fs';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { Bench } from '../../../packages/runner/src/runner.fixture.ts';
import { controlGround, runAlone, sandboxGround, type Ground } from './alone.ts';
import { runBatch, type Place } from './batch.ts';
import { plantCanaries, PYTHON, type Canaries } from './canaries.ts';
import { controlPlace, sandboxPlace } from './places.ts';
import type { Probe, Result } from './probe.ts';
import { BOMBS, PROCESSORS } from './probes/bombs.ts';
import { FILES } from './probes/files.ts';
import { KERNEL } from './probes/kernel.ts';
import { STAYING_PROBES } from './probes/lasting.ts';
import { NETWORK } from './probes/network.ts';
import { PROCESSES, SIGNAL_EVERYONE } from './probes/processes.ts';
import { RIGHTS } from './probes/rights.ts';
import { TRANSFERS } from './probes/transfers.ts';
import { table } from './table.ts';

const BATCHED: Probe[] = [...FILES, ...PROCESSES, ...KERNEL, ...NETWORK, ...RIGHTS];
const ALONE = [...STAYING_PROBES, ...TRANSFERS, ...BOMBS];
const isRoot = process.getuid?.() === 0;
const LIMIT_MS = 240_000;
const LEAST_PROBES = 110,
  LEAST_IN_CONTROL = 80;
/** Plays a key of the service: if it gets into a sandbox, a real one would too. */
const OF_SERVICE = 'HEADRACE_ESCAPE_KEY';

let control: Promise<Result[]> | undefined;

/**
 * Tries every probe in sandboxes of this bench's driver: none may succeed. The same probes without a sandbox
 * are the control: what fails there too (the machine lacks it, or the runner's own code prevents it) proves
 * nothing, and is reported.
 */
export function escapes(engine: string, bench: Bench | undefined): void {
  if (!existsSync(PYTHON)) process.stderr.write(`SKIPPED, the escape suite needs ${PYTHON}\n`);
  describe.skipIf(!bench || !existsSync(PYTHON))(`out of a sandbox of ${engine}`, () => {
    let inside: Result[], without: Result[];
    beforeAll(async () => {
      // If the runner wrote it while a probe runs, it would count as changed from inside.
      await bench!.host.guest.ready('headrace');
      control ??= runControl(bench!);
      if (bench!.host.driver!.limits.processes !== 'cgroup') await control;
      [without, inside] = await Promise.all([control, runSandbox(bench!)]);
      process.stdout.write(`\n${table(engine, without, inside)}\n`);
    }, LIMIT_MS);

    test('no probe succeeds', () => {
      expect(inside.filter((result) => result.succeeded).map(({ name, said }) => `${name}: ${said}`)).toEqual(
        [],
      );
    });

    test('there are many, each under a name of its own', () => {
      expect(new Set(inside.map((result) => result.name)).size).toBe(inside.length);
      expect(inside.length).toBeGreaterThanOrEqual(LEAST_PROBES);
      expect(without.map((result) => result.name)).toEqual(
        expect.arrayContaining(inside.map((result) => result.name)),
      );
    });

    test.skipIf(!isRoot)('most succeed where there is no sandbox', () => {
      expect(without.filter((result) => result.succeeded).length).toBeGreaterThanOrEqual(LEAST_IN_CONTROL);
    });

    test(
      'a hole is found by the probes that it concerns',
      async () => {
        const canaries = await plantCanaries(bench!.host);
        onTestFinished(() => canaries.close());
        const place = await sandboxPlace(bench!.host, canaries, [
          { host: canaries.folder, inside: canaries.folder, readOnly: false },
        ]);
        onTestFinished(() => place.close());
        const results = await runBatch(place, FILES.concat(NETWORK));
        expect(results.filter((result) => result.succeeded).map((result) => result.name)).toEqual(
          expect.arrayContaining([
            'canary-read',
            'canary-write',
            'data-folder',
            'unix-socket-by-path',
            'task-sockets-of-others',
          ]),
        );
        expect(results.find((result) => result.name === 'loopback-tcp')).toMatchObject({ succeeded: false });
      },
      LIMIT_MS,
    );
  });
}

async function runControl(bench: Bench): Promise<Result[]> {
  return withCanaries(bench, async (canaries) =>
    all(controlPlace(bench.host, canaries), controlGround(bench.host, canaries)),
  );
}

async function runSandbox(bench: Bench): Promise<Result[]> {
  return withCanaries(bench, async (canaries) => {
    const place = await sandboxPlace(bench.host, canaries);
    try {
      return await all(place, sandboxGround(bench, canaries));
    } finally {
      await place.close();
    }
  });
}

async function withCanaries(
  bench: Bench,
  body: (canaries: Canaries) => Promise<Result[]>,
): Promise<Result[]> {
  const canaries = await plantCanaries(bench.host);
  process.env[OF_SERVICE] = canaries.secret;
  try {
    return await body(canaries);
  } finally {
    await canaries.close();
  }
}

async function all(place: Place, ground: Ground): Promise<Result[]> {
  const batches = runBatch(place, BATCHED).then(async (results) => [
    ...results,
    ...(await runBatch(place, SIGNAL_EVERYONE)),
  ]);
  if (ground.host.driver!.limits.processes !== 'cgroup') await batches;
  const [batched, alone] = await Promise.all([batches, runAlone(ground, ALONE)]);
  return [...batched, ...alone, ...(await runAlone(ground, [PROCESSORS]))];
}
