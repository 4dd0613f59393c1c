/**
 * Valid and malformed requests of every operation in `openapi.json`, drawn from it: whether every answer is
 * one that the document lists. Both kinds go at once: what is valid waits for sandboxes, what is malformed is
 * refused at the door.
 */
import { startGithubStandIn } from '../../../packages/server/src/scm/github/stand-in.fixture.ts';
import type { Part, PartResult } from '../lib/part.ts';
import { OWNER_ENV } from './actors.ts';
import { sendByClient } from './by-client.ts';
import { sendCrowd } from './crowd.ts';
import { readDocument } from './document.ts';
import type { Operation } from './document.ts';
import { sendMalformed } from './malformed.ts';
import { createTally } from './tally.ts';
import type { Tally } from './tally.ts';
import { plan, sendValid } from './valid.ts';
import { openWire } from './wire.ts';
import { makeWorld } from './world.ts';

const MALFORMED = 50_000;
const VALID = 10_000;
/** In addition to the valid ones: those that meet on the same threads. */
const CROWDED = 3000;

export const requestsPart: Part = {
  name: 'requests',
  title: `${MALFORMED.toLocaleString('en')} malformed and ${VALID.toLocaleString('en')} valid requests over every operation`,
  seconds: 200,
  async run({ random, count, start, atEnd, signal, say }) {
    const document = readDocument();
    const github = await startGithubStandIn();
    atEnd(() => github.close());
    const service = await start({ env: { ...OWNER_ENV, HEADRACE_SCM_ALLOW_PRIVATE: '1' } });
    const wire = openWire(service.base);
    atEnd(() => wire.close());
    const { baseUrl, token } = github;
    const world = await makeWorld({ service, github: { baseUrl, token } }, wire, document.operations);
    say('the world is made');
    const [valid, malformed, crowd, byClient] = [createTally(), createTally(), createTally(), createTally()];
    const tasks = plan(document.operations, count(VALID, document.operations.length), random.fork('plan'));
    await Promise.all([
      sendValid({ document, world, tally: valid, signal }, tasks),
      sendMalformed(
        { document, world, tally: malformed, signal },
        count(MALFORMED, document.operations.length),
        random.fork('malformed'),
      ),
      sendCrowd({ document, world, tally: crowd, signal }, count(CROWDED, 100), random.fork('crowd')),
      sendByClient({ document, world, tally: byClient, signal }, document.operations, random.fork('client')),
    ]);
    return resultOf(document.operations, { valid, malformed, crowd, byClient });
  },
};

function resultOf(
  operations: Operation[],
  { valid, malformed, crowd, byClient }: Record<'valid' | 'malformed' | 'crowd' | 'byClient', Tally>,
): PartResult {
  const of = (tally: Tally, name: string) => tally.counts.get(name) ?? 0;
  const never = operations.filter(({ id }) => of(valid, `${id} succeeded`) === 0);
  const failures = [
    ...never.map(({ id }) => `${id} never succeeded, of ${of(valid, `${id} sent`)} valid requests`),
    ...valid.failures(),
    ...malformed.failures(),
    ...crowd.failures(),
    ...byClient.failures(),
  ];
  const [good, bad, crowded] = [of(valid, 'sent'), of(malformed, 'sent'), of(crowd, 'sent')];
  const broken = [valid, malformed, crowd].reduce((sum, tally) => sum + of(tally, '5xx'), 0);
  const share = (100 * of(valid, 'succeeded')) / good;
  return {
    line: `${bad} malformed, ${good} valid and ${crowded} clashing requests over ${operations.length} operations, ${of(byClient, 'sent')} by the client's methods: ${broken} answers of 5xx, ${failures.length} kinds of answers off the document; ${share.toFixed(1)} % of the valid ones succeeded`,
    figures: {
      operations: operations.length,
      valid: good,
      malformed: bad,
      clashing: crowded,
      'by the client': of(byClient, 'sent'),
      'answers of 5xx': broken,
      'valid succeeded %': Math.round(share * 10) / 10,
      'runs, builds and applies that ended': of(valid, 'ended'),
      replays: of(valid, 'replays'),
      'other payloads under a key': of(valid, 'other payloads under a key'),
      ...prefixed(
        'malformed: ',
        [...malformed.counts].filter(([name]) => name !== 'sent' && name !== '5xx'),
      ),
      ...prefixed(
        'valid, refused: ',
        [...valid.counts].flatMap(([name, times]): [string, number][] =>
          name.startsWith('refused ') ? [[name.slice('refused '.length), times]] : [],
        ),
      ),
      ...prefixed(
        'clashing: ',
        [...crowd.counts].filter(([name]) => name !== 'sent' && name !== '5xx'),
      ),
      ...prefixed(
        'succeeded %: ',
        operations.map(({ id }) => [
          id,
          Math.round((100 * of(valid, `${id} succeeded`)) / of(valid, `${id} sent`)),
        ]),
      ),
    },
    failures,
  };
}

const prefixed = (prefix: string, counts: [string, number][]) =>
  Object.fromEntries(
    counts.toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([name, value]) => [prefix + name, value]),
  );
