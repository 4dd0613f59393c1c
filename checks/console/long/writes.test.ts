/** Every write of the console, refused or lost: the page says what happened and what to do, and nothing typed is lost. */
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { AREAS } from '../areas/index.ts';
import { startGround } from '../ground.ts';
import { visitAt } from '../page.ts';
import { startProxy } from '../proxy.ts';
import type { Proxy } from '../proxy.ts';
import { browserTest, useBrowser } from '../rig.ts';
import { FIELD_SAYS, REFUSALS, RETRIED } from '../writes.ts';
import type { Act, Bench, Trouble, Write } from '../writes.ts';
import { WRITES_OF_APPS } from '../writes-of-apps.ts';
import { WRITES_OF_THREADS } from '../writes-of-threads.ts';

const rig = useBrowser();
let bench: Bench;
let proxy: Proxy;

beforeAll(async () => {
  const ground = await startGround();
  proxy = await startProxy(ground.base);
  bench = {
    ground,
    async at(path, state = ground.state) {
      const visit = await visitAt(rig, path, { base: proxy.base, state });
      visit.allows(/: [45]\d\d$/, /net::ERR/);
      return visit;
    },
  };
});
afterAll(async () => {
  await proxy?.close();
  await bench?.ground.stop();
});

const WRITES = [...WRITES_OF_APPS, ...WRITES_OF_THREADS, ...AREAS.flatMap(({ writes }) => writes)];

/** A write meets one refusal and one fault that passes, each write another pair; some meet all. */
const troublesOf = (write: Write, at: number): Trouble[] =>
  write.isWhole
    ? [...REFUSALS, ...RETRIED]
    : [REFUSALS[at % REFUSALS.length]!, RETRIED[at % RETRIED.length]!];

describe.each(WRITES.map((write, at) => ({ ...write, troubles: troublesOf(write, at) })))(
  '$name',
  ({ troubles, ...write }) => {
    browserTest(
      `says ${troubles.map(({ name }) => name).join(', ')}, keeps what was typed, and is done once`,
      { timeout: 120_000 },
      async () => {
        proxy.plan(() => null);
        const act = await write.begin(bench);
        const kept = await act.kept?.();
        let last: { key: string | undefined; isRetried: boolean } | null = null;
        const pressOnce = async () => {
          proxy.forget();
          await act.press();
          await expect
            .poll(() => keysOf(write).length, { message: 'asked', timeout: 10_000 })
            .toBeGreaterThan(0);
          const [key] = keysOf(write);
          if (last && key !== undefined)
            expect(key === last.key, `the key after ${write.name}`).toBe(last.isRetried && !write.isHarmless);
          return key;
        };
        for (const trouble of troubles) {
          // A page that has ended for good is not pressed again.
          proxy.plan(({ method, path }) =>
            write.asks.test(`${method} ${path}`) ? faultOf(trouble, write) : null,
          );
          const key = await pressOnce();
          await saysIt(act, write, trouble);
          expect(await act.kept?.(), trouble.name).toEqual(kept);
          expect(await act.done(), trouble.name).toBe(0);
          last = { key, isRetried: trouble.isRetried };
        }
        proxy.plan(() => null);
        await pressOnce();
        await expect.poll(() => act.done(), { timeout: 20_000 }).toBe(1);
      },
    );
  },
);

const keysOf = ({ asks }: Write) =>
  proxy
    .asked()
    .filter(({ method, path }) => asks.test(`${method} ${path}`))
    .map(({ key }) => key);

/** A refusal of the whole body says which field it is about, where the page has one. */
const faultOf = ({ fault }: Trouble, { field }: Write) =>
  fault.kind === 'answer' && fault.status === 400 && field !== undefined ? { ...fault, field } : fault;

async function saysIt({ page }: Act, { field, says }: Write, trouble: Trouble): Promise<void> {
  const words =
    says?.[trouble.status] ?? (trouble.status === 400 && field !== undefined ? FIELD_SAYS : trouble.says);
  const line = page.getByText(words);
  await line
    .first()
    .waitFor({ timeout: 40_000 })
    .catch(async (error: unknown) => {
      throw new Error(`${trouble.name}: the page says ${await page.locator('body').innerText()}`, {
        cause: error,
      });
    });
  // Once, and where a reader is told of it.
  expect(await line.count(), trouble.name).toBe(1);
}
