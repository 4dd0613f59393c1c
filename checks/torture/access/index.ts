/**
 * Every operation, asked by everybody who may not, about what is there and what is nowhere: nobody learns
 * which is which.
 */
import type { Random } from '../../harness/random.ts';
import type { Part } from '../lib/part.ts';
import { byKey, createCalls, OWNER, OWNER_ENV } from '../requests/actors.ts';
import { readDocument } from '../requests/document.ts';
import type { ApiDocument, Operation } from '../requests/document.ts';
import { makeExhibits } from '../requests/exhibits.ts';
import type { Ids } from '../requests/exhibits.ts';
import { judge } from '../requests/judge.ts';
import { shuffled } from '../requests/shuffled.ts';
import { createTally, shown } from '../requests/tally.ts';
import type { Tally } from '../requests/tally.ts';
import { openWire } from '../requests/wire.ts';
import type { Answer, Wire } from '../requests/wire.ts';
import { inputPairs, pathPair, positionPairs, seen } from './pairs.ts';
import type { Pair, Stranger } from './pairs.ts';
import { makeStates } from './states.ts';
import type { State } from './states.ts';

const LANES = 8;
/** They are cheap: half of a full run asks all of them. */
const WHOLE_FROM = 2;
const LEAST = 500;
/** A real difference between two ids shows every time. */
const TRIES = 3;

interface Question {
  operation: Operation;
  state: string;
  pair: Pair;
  /** Undefined: what is seen has to be the same, whatever it is. */
  status?: number;
  /** Ids that no answer may hold. */
  hidden: string[];
}

export const accessPart: Part = {
  name: 'access',
  title: 'Every operation without permission, with existing and absent ids',
  seconds: 30,
  async run({ random, count, start, atEnd, signal, say }) {
    const document = readDocument();
    const service = await start({ env: OWNER_ENV });
    const wire = openWire(service.base);
    atEnd(() => wire.close());
    const calls = createCalls(wire, service.base);
    const owner = await calls.signIn(OWNER);
    const { activeOrganizationId: home } = await calls.call(owner, 'GET', '/api/session');
    const theirs = (await makeExhibits(calls, byKey(service.key), owner, home as string)).ids;
    const tenant = await calls.tenant(OWNER);
    // The founder is a member of both organizations; a stranger of one.
    const stranger = await calls.invite(tenant.actor, 'owner');
    const key = byKey((await calls.account(stranger.actor)).key);
    const own = (await makeExhibits(calls, key, stranger.actor, tenant.organizationId)).ids;
    const states = await makeStates(calls, owner, { key, session: stranger.actor });
    say('both organizations and all credentials are made');

    const asked = document.operations.filter(({ isPublic }) => !isPublic);
    const all = [
      ...states.flatMap((state) =>
        asked.flatMap((operation) => questionOf(operation, state, theirs, random)),
      ),
      ...asked.flatMap((operation) =>
        strangersQuestions(
          operation,
          { actor: operation.takesKey ? key : stranger.actor, own, theirs },
          random,
        ),
      ),
    ];
    const tally = createTally();
    // A short run asks some of them, others with every seed.
    const questions = shuffled(all, random).slice(0, count(all.length * WHOLE_FROM, LEAST));
    const queue = [...questions];
    await Promise.all(
      Array.from({ length: LANES }, async () => {
        for (let question = queue.pop(); question && !signal.aborted; question = queue.pop())
          await put(document, wire, question, tally);
      }),
    );
    const failures = tally.failures();
    const sent = tally.counts.get('sent') ?? 0;
    return {
      line: `${asked.length} operations × ${states.length} credential states, ${questions.length} pairs of existing and absent ids, ${sent} requests: ${tally.counts.get('told apart') ?? 0} told apart, ${failures.length} kinds of wrong answers`,
      figures: {
        operations: asked.length,
        states: states.length,
        pairs: questions.length,
        requests: sent,
        'told apart': tally.counts.get('told apart') ?? 0,
        'wrong answers': failures.length,
      },
      failures,
    };
  },
};

/** Ids of a path that lead to a resource. Names are the caller's own choice. */
const hasIds = ({ pathParameters }: Operation) =>
  pathParameters.some((name) => name !== 'provider' && name !== 'name');

function questionOf(operation: Operation, state: State, theirs: Ids, random: Random): Question[] {
  const actor = state.actorFor(operation);
  if (!actor) return [];
  const isRefusedAnyway =
    [401, 403].includes(state.status(operation)) && (hasIds(operation) || !/restricted/.test(state.name));
  // With rights in their own organization, and no id in the path, they act in that one: reads show nothing
  // of the other.
  if (!hasIds(operation) && !isRefusedAnyway && operation.method !== 'GET') return [];
  const isOwn = !hasIds(operation) && !isRefusedAnyway;
  return [
    {
      operation,
      state: state.name,
      pair: pathPair(operation, theirs, actor, random),
      hidden: hiddenOf(theirs),
      ...(isOwn ? {} : { status: state.status(operation) }),
    },
  ];
}

function strangersQuestions(operation: Operation, stranger: Stranger, random: Random): Question[] {
  const positions = positionPairs(operation, stranger, random).map((pair): Question => ({
    operation,
    state: 'a stranger, own ids before',
    pair,
    status: 404,
    hidden: hiddenOf(stranger.theirs),
  }));
  const inputs = inputPairs(operation, stranger, random).map((pair): Question => ({
    operation,
    state: 'a stranger, own path',
    pair,
    hidden: [],
  }));
  return [...positions, ...inputs];
}

const hiddenOf = (ids: Ids) => Object.values(ids).filter((id) => id.includes('_'));

async function put(
  document: ApiDocument,
  wire: Wire,
  { operation, state, pair, status, hidden }: Question,
  tally: Tally,
): Promise<void> {
  const ask = async () => [await wire.send(pair.existing), await wire.send(pair.absent)] as const;
  let [existing, absent] = await ask();
  // Data that the caller may see, such as their own log, can change by itself between the two answers.
  for (let tries = 1; tries < TRIES && seen(existing) !== seen(absent); tries++)
    [existing, absent] = await ask();
  const about = `${state}, ${operation.id}, ${pair.about}`;
  const check = (answer: Answer, request: Pair['existing'], which: string) => {
    tally.count('sent');
    const faults = judge(document, operation, answer, request.method);
    if (status !== undefined && answer.status !== status)
      faults.push(`answers ${answer.status}, not ${status}`);
    if (hidden.some((id) => answer.body.includes(id))) faults.push('tells an id of the other organization');
    for (const fault of faults) tally.fault(`${about} (${which}): ${fault}`, () => shown(request, answer));
  };
  check(existing, pair.existing, 'existing');
  check(absent, pair.absent, 'absent');
  if (seen(existing) === seen(absent)) return;
  tally.count('told apart');
  tally.fault(
    `${about}: the answers differ`,
    () => `${shown(pair.existing, existing)}, but ${shown(pair.absent, absent)}`,
  );
}
