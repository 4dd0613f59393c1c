/** Requests that are broken in one way each, of every operation; each has to be refused as it should be. */
import type { Random } from '../../harness/random.ts';
import type { Operation } from './document.ts';
import { errorOf, judge } from './judge.ts';
import { HEADER_MUTATIONS } from './mutations/headers.ts';
import type { Broken, Mutation } from './mutations/mutation.ts';
import { PATH_MUTATIONS } from './mutations/paths.ts';
import { QUERY_MUTATIONS } from './mutations/queries.ts';
import { RULE_MUTATIONS } from './mutations/rules.ts';
import { TEXT_MUTATIONS } from './mutations/texts.ts';
import { TRANSPORT_MUTATIONS } from './mutations/transport.ts';
import { VALUE_MUTATIONS } from './mutations/values.ts';
import { restingSpecimen } from './specimen.ts';
import type { Sending } from './sending.ts';
import { shown } from './tally.ts';
import type { Answer } from './wire.ts';

const LANES = 8;
const MUTATIONS: Mutation[] = [
  ...VALUE_MUTATIONS,
  ...TEXT_MUTATIONS,
  ...QUERY_MUTATIONS,
  ...PATH_MUTATIONS,
  ...RULE_MUTATIONS,
  ...HEADER_MUTATIONS,
  ...TRANSPORT_MUTATIONS,
];
/** A body that happens to have nothing to break so is drawn again, a few times. */
const DRAWS = 20;

/** Each operation in turn, those with a body more often: most that can be broken is there. */
export async function sendMalformed(sending: Sending, total: number, random: Random): Promise<void> {
  const { document, signal } = sending;
  const fitting = new Map(
    document.operations.map((operation) => [
      operation,
      weighted(MUTATIONS.filter((mutation) => mutation.fits(operation))),
    ]),
  );
  const turns = document.operations.flatMap((operation) =>
    Array.from({ length: operation.body ? 3 : 1 }, () => operation),
  );
  let next = 0;
  await Promise.all(
    Array.from({ length: LANES }, async () => {
      while (next < total && !signal.aborted) {
        const number = next++;
        const operation = turns[number % turns.length]!;
        await sendOne(sending, operation, fitting.get(operation)!, random.fork(`malformed ${number}`));
      }
    }),
  );
}

function weighted(mutations: Mutation[]): (random: Random) => Mutation {
  const sum = mutations.reduce((all, { weight = 1 }) => all + weight, 0);
  return (random) => {
    let left = random.next() * sum;
    return mutations.find(({ weight = 1 }) => (left -= weight) < 0) ?? mutations.at(-1)!;
  };
}

async function sendOne(
  { document, world, tally }: Sending,
  operation: Operation,
  draw: (random: Random) => Mutation,
  random: Random,
): Promise<void> {
  let broken: Broken | undefined;
  let mutation: Mutation | undefined;
  for (let draws = 0; !broken && draws < DRAWS; draws++) {
    mutation = draw(random);
    broken = await mutation.apply(
      restingSpecimen({ world, operation, random, isPlain: false }),
      random,
      world,
    );
  }
  if (!broken || !mutation) throw new Error(`${operation.id} cannot be broken`);
  const { request } = broken;
  const answer = await world.calls.wire.send(request);
  tally.count('sent');
  if (answer.status >= 500) tally.count('5xx');
  tally.count(mutation.name);
  for (const fault of [
    ...judge(document, broken.operation, answer, request.method),
    ...refusalFaults(broken, answer),
  ])
    tally.fault(`${mutation.name}: ${fault}`, () => `${operation.id} ${shown(request, answer)}`);
}

/** How the refusal differs from the one that is due. */
function refusalFaults({ status, code, at, mayPass, request }: Broken, answer: Answer): string[] {
  if (answer.fault !== undefined || (mayPass && answer.status < 400)) return [];
  if (!status.includes(answer.status))
    return [`answers ${answer.status} ${errorOf(answer)?.code ?? ''}, not ${status.join(' or ')}`];
  if (request.method === 'HEAD') return [];
  const error = errorOf(answer);
  if (code?.length && !code.includes(error?.code ?? ''))
    return [`answers ${error?.code}, not ${code.join(' or ')}`];
  if (at && !error?.fields?.some(({ path }) => at.includes(path))) return ['does not name the place'];
  return [];
}
