/** A write and a read, each with its connection cut once at each byte of the request and of the answer. */
import { createClient } from '@headrace/client';
import type { Client } from '@headrace/client';
import { inLanes } from '../../harness/lanes.ts';
import { startCuttingProxy } from '../lib/cutting-proxy.ts';
import type { Cut, CuttingProxy } from '../lib/cutting-proxy.ts';
import type { Fleet } from '../lib/fleet.ts';
import type { Setup } from '../lib/part.ts';
import type { Written } from './judge.ts';

export interface Cuts {
  calls: number;
  /** Distinct positions of a cut. */
  bytes: number;
  written: Written[];
  wrong: number;
  failures: string[];
}

/** More than the pauses between retries allow. */
const LANES = 24;

type Kind = 'write' | 'read';
interface Place {
  kind: Kind;
  cut: Cut;
}
interface Lane {
  client: Client;
  proxy: CuttingProxy;
  /** How the next exchange is cut. */
  arm(cut: Cut): void;
}

export async function cutEverywhere(setup: Setup, { bases, key }: Fleet): Promise<Cuts> {
  const lanes = await Promise.all(Array.from({ length: LANES }, () => openLane(bases[0]!, key)));
  setup.atEnd(async () => {
    await Promise.all(lanes.map(({ proxy }) => proxy.close()));
  });
  const places = await placesOf(lanes[0]!);
  const random = setup.random.fork('places');
  const chosen = Array.from(
    { length: setup.count(places.length, LANES) },
    () => places.splice(random.below(places.length), 1)[0]!,
  );
  setup.say(`cutting at ${chosen.length} places`);
  const result: Cuts = { calls: 0, bytes: chosen.length, written: [], wrong: 0, failures: [] };
  const free = [...lanes];
  await inLanes(LANES, chosen, async (place) => {
    setup.signal.throwIfAborted();
    const lane = free.pop()!;
    await callOver(lane, place, result);
    free.push(lane);
  });
  return result;
}

async function openLane(base: string, key: string): Promise<Lane> {
  let armed: Cut | null = null;
  const proxy = await startCuttingProxy(base, () => {
    const cut = armed;
    armed = null;
    return cut;
  });
  return {
    proxy,
    client: createClient({ baseUrl: proxy.base, key }),
    arm(cut) {
      armed = cut;
    },
  };
}

/** As long as the keys of the calls. */
const NAME = 'cut none';

/** Every byte of both exchanges, and the moment before the first and after the last. */
async function placesOf({ client, proxy }: Lane): Promise<Place[]> {
  const app = await client.apps.create({ name: NAME });
  const write = proxy.last();
  await client.apps.get(app.id);
  const lengths = { write, read: proxy.last() };
  return (['write', 'read'] as const).flatMap((kind) =>
    (['request', 'response'] as const).flatMap((side) =>
      Array.from({ length: lengths[kind][side] + 1 }, (_, after): Place => ({ kind, cut: { side, after } })),
    ),
  );
}

async function callOver({ client, proxy, arm }: Lane, { kind, cut }: Place, result: Cuts): Promise<void> {
  const where = `${kind}, ${cut.side} cut after ${cut.after} bytes`;
  const name = `cut ${String(result.calls++).padStart(4, '0')}`;
  const before = proxy.cuts();
  try {
    if (kind === 'write') {
      arm(cut);
      const app = await client.apps.create({ name });
      result.written.push({ name, appId: app.id });
      if (app.name !== name) wrong(`the app is ${app.name}`);
    } else {
      const app = await client.apps.create({ name });
      result.written.push({ name, appId: app.id });
      arm(cut);
      const read = await client.apps.get(app.id);
      if (JSON.stringify(read) !== JSON.stringify(app)) wrong('what is read is not what was written');
    }
    if (proxy.cuts() === before) wrong('nothing was cut');
  } catch (error) {
    wrong(String(error));
  }

  function wrong(what: string): void {
    result.wrong++;
    result.failures.push(`${where}: ${what}`);
  }
}
