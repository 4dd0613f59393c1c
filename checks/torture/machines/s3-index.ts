/**
 * Object storage that answers SlowDown, resets and stalls connections, cuts and garbles bodies, and is away for seconds,
 * under imports, runs, builds and reads. The server is Ceph's object gateway; a TCP proxy injects the faults. Before that,
 * users without rights, wrong credentials and a wrong Content-MD5 are tried at the gateway itself.
 *
 * Seen to fail: streams that give their last bytes before the MD5 of all is checked (a client takes a garbled artifact for
 * whole); one attempt for each request (storage verify does not come to its end).
 */
import { execFile } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { startDatabase } from '../../harness/database.ts';
import { newWeather } from '../lib/delivery.ts';
import { counted } from '../lib/numbers.ts';
import type { Part, PartResult, Setup } from '../lib/part.ts';
import { makeBucket, settingsOf, storeOf, tryRights, tryWrongMd5 } from './s3-rights.ts';
import type { Place } from './s3-rights.ts';
import { startRgw } from './s3-rgw.ts';
import type { S3User } from './s3-rgw.ts';
import { startWeather } from './s3-weather.ts';
import type { StoreWeather } from './s3-weather.ts';
import { newTally, workOn } from './s3-work.ts';

const APPS = 6;
const AWAY_MS = 4_000;
const CLI = join(import.meta.dirname, '../../../packages/cli/src/main.ts');
const VERIFY_LIMIT_MS = 180_000;

export const s3Part: Part = {
  name: 's3',
  title: 'Writes settle and nothing is half stored when object storage fails',
  seconds: 240,
  async run(setup): Promise<PartResult> {
    const folder = join(setup.scratch, 'ceph');
    mkdirSync(folder);
    const rgw = await startRgw({ folder, say: setup.say });
    setup.atEnd(() => rgw.stop());
    const [owner, guest] = [await rgw.makeUser('owner'), await rgw.makeUser('guest')];
    const place: Place = { endpoint: rgw.endpoint, bucket: 'objects' };
    await makeBucket(place, owner);
    const failures = [...(await tryRights(place, owner, guest)), ...(await tryWrongMd5(place, owner))];
    setup.say('rights and checksums are tried');

    const database = await startDatabase(setup.scratch);
    setup.atEnd(() => database.stop());
    const weather = await startWeather(rgw.endpoint, setup.random.fork('weather'));
    setup.atEnd(() => weather.close());
    const env: Record<string, string> = {
      DATABASE_URL: database.url,
      HEADRACE_SECRET_KEY: 'a secret of the torture, of 32 characters',
      HEADRACE_CLEANUP_GRACE_SECONDS: '1',
      ...settingsOf({ ...place, endpoint: weather.endpoint }, owner),
    };
    const service = await setup.start({ env });
    env.HEADRACE_DATA_DIR = service.dataDir;
    const tally = newTally();
    const http = newWeather();
    weather.set('rough');
    const over = new AbortController();
    const aways = goAway(setup, weather, over.signal);
    const rounds = setup.count(20, 2);
    try {
      await Promise.all(
        Array.from({ length: APPS }, (_, n) =>
          workOn(
            {
              caller: service,
              random: setup.random.fork(`app ${n}`),
              weather: http,
              tally,
              signal: setup.signal,
            },
            `App ${n}`,
            rounds,
          ),
        ),
      );
    } finally {
      over.abort();
    }
    const away = await aways;
    if (!service.isUp()) failures.push(`the service ended: ${service.said()}`);

    // Faults must not look like damage.
    weather.set('rough');
    failures.push(...(await verified(env, 'through the faults')));
    weather.set('fair');
    failures.push(...(await verified({ ...env, ...settingsOf(place, owner) }, 'of what is stored')));
    const objects = await readAll(place, owner, failures);
    const { counts } = weather;
    const bad = [...tally.ended].map(([how, times]) => `${times} × ${how}`);
    const figures = {
      readyAfterSeconds: Math.round(rgw.readyAfter),
      exchanges: weather.exchanges(),
      slowDowns: counts['slow-down'],
      resets: counts.reset,
      cuts: counts.cut,
      stalls: counts.stall,
      garbled: counts.garble,
      away,
      imports: tally.imports,
      runs: tally.runs,
      builds: tally.builds,
      reads: tally.reads,
      readsAgain: tally.readsAgain,
      unavailable: http.unavailable,
      endedBadly: bad.length,
      objects,
    };
    failures.push(...tally.failures, ...http.faults, ...bad);
    return {
      line:
        `${counted(figures.exchanges)} requests to Ceph's object gateway with ${figures.slowDowns} SlowDown, ${figures.resets} resets, ${figures.cuts} cut, ${figures.garbled} garbled answers, ${figures.stalls} stalls, ${away} times away for ${AWAY_MS / 1000} s: ` +
        `${figures.imports} imports, ${figures.runs} runs, ${figures.builds} builds settled, ${figures.reads} reads as written (${figures.readsAgain} sent again), ${figures.unavailable} answers of 503; ` +
        `${counted(objects)} objects whole, storage verify ${failures.some((failure) => failure.startsWith('storage verify')) ? 'finds damage' : 'sound'}`,
      figures,
      failures,
    };
  },
};

/** Now and then the storage is away; returns how often it was. */
async function goAway({ random }: Setup, weather: StoreWeather, signal: AbortSignal): Promise<number> {
  const own = random.fork('away');
  let times = 0;
  try {
    for (;;) {
      await sleep(4_000 + own.below(16_000), undefined, { signal });
      times++;
      weather.set('away');
      await sleep(AWAY_MS, undefined, { signal });
      weather.set('rough');
    }
  } catch {
    return times;
  }
}

/** `headrace storage verify`, as an operator runs it. */
async function verified(env: Record<string, string>, what: string): Promise<string[]> {
  try {
    await promisify(execFile)(process.execPath, [CLI, 'storage', 'verify', '--json'], {
      env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env },
      timeout: VERIFY_LIMIT_MS,
      maxBuffer: 64 * 1024 ** 2,
    });
    return [];
  } catch (error) {
    const { stdout, stderr } = error as { stdout?: string; stderr?: string };
    return [`storage verify ${what}: ${String(error)} ${stdout} ${stderr}`.slice(0, 2_000)];
  }
}

/** Reads every object with its checksum, also those that nothing refers to. */
async function readAll(place: Place, owner: S3User, failures: string[]): Promise<number> {
  const store = await storeOf(place, owner);
  let objects = 0;
  for await (const { key, byteSize } of store.list('')) {
    objects++;
    const bytes = await store.get(key).catch((error: unknown) => String((error as Error).cause));
    if (bytes.length !== byteSize)
      failures.push(`${key} is not whole: ${byteSize} bytes, ${String(bytes).slice(0, 200)}`);
  }
  store.close();
  return objects;
}
