/** Valid requests of every operation, as many as its weight says, on several lanes. */
import type { Random } from '../../harness/random.ts';
import type { Made } from './actors.ts';
import type { Operation } from './document.ts';
import { createEnds } from './ends.ts';
import type { Ends } from './ends.ts';
import { errorOf, judge, leavesReceipt } from './judge.ts';
import { weightOf } from './recipes.ts';
import { conflict, replay } from './replay.ts';
import { shuffled } from './shuffled.ts';
import { drawSpecimen, requestOf } from './specimen.ts';
import type { Specimen } from './specimen.ts';
import type { Sending } from './sending.ts';
import { shown } from './tally.ts';
import type { Tally } from './tally.ts';
import type { Answer } from './wire.ts';

const LANES = 8;
/** The share of the settled writes that are. */
const REPEATED = 0.3;

interface Task {
  operation: Operation;
  isPlain: boolean;
  random: Random;
}

/** `total` requests, each operation at least once; what is over goes to those that cost least. */
export function plan(operations: Operation[], total: number, random: Random): Task[] {
  const weights = operations.reduce((sum, operation) => sum + weightOf(operation), 0);
  const tasks = operations.flatMap((operation) =>
    Array.from(
      { length: Math.max(1, Math.floor((total * weightOf(operation)) / weights)) },
      (_, i): Task => ({ operation, isPlain: i === 0, random: random.fork(`${operation.id} ${i}`) }),
    ),
  );
  const cheap = operations.filter((operation) => weightOf(operation) === 1);
  while (tasks.length < total)
    tasks.push({
      operation: cheap[tasks.length % cheap.length]!,
      isPlain: false,
      random: random.fork(`more ${tasks.length}`),
    });
  return shuffled(tasks, random);
}

export async function sendValid(sending: Sending, tasks: Task[]): Promise<void> {
  const { world, tally, signal } = sending;
  const ends = createEnds();
  const queue = [...tasks];
  await Promise.all(
    Array.from({ length: LANES }, async () => {
      for (let task = queue.pop(); task && !signal.aborted; task = queue.pop())
        await sendOne(sending, task, ends);
    }),
  );
  await ends.check(world, tally, signal);
}

async function sendOne(sending: Sending, { operation, isPlain, random }: Task, ends: Ends): Promise<void> {
  const { document, world, tally } = sending;
  const { specimen, after } = await drawSpecimen({ world, operation, random, isPlain });
  const requestId = random.next() < 0.3 ? `request-${random.below(1e9)}~` : undefined;
  if (requestId !== undefined) specimen.headers.push(['x-request-id', requestId]);
  const request = requestOf(specimen);
  const answer = await world.calls.wire.send(request);
  count(operation, answer, tally);
  const faults = [
    ...judge(document, operation, answer, request.method),
    ...validFaults(answer, isPlain, requestId),
  ];
  for (const fault of faults) tally.fault(`valid ${operation.id}: ${fault}`, () => shown(request, answer));
  if (specimen.key !== undefined && specimen.actor !== world.wanderer && leavesReceipt(answer))
    await repeat(sending, specimen, answer, random);
  const receipt = answer.headers.get('x-operation-id')?.[0];
  if (receipt && operation.takesKey) world.operations.push(receipt);
  const made = madeBy(answer);
  if (operation.method === 'POST') ends.note(made);
  await after?.(made);
}

const isSuccess = ({ status }: Answer) => status >= 200 && status < 400;
const madeBy = (answer: Answer) =>
  isSuccess(answer) && answer.headers.get('content-type')?.[0]?.includes('json') && answer.body.length
    ? (JSON.parse(answer.body.toString()) as Made)
    : undefined;

function count({ id, base }: Operation, answer: Answer, tally: Tally): void {
  for (const name of ['sent', `${id} sent`, ...(answer.status >= 500 ? ['5xx'] : [])]) tally.count(name);
  for (const name of isSuccess(answer)
    ? ['succeeded', `${id} succeeded`]
    : [`refused ${base} ${answer.status} ${errorOf(answer)?.code ?? ''}`])
    tally.count(name);
}

/** What may not be said of a valid request, whatever the document allows. */
function validFaults(answer: Answer, isPlain: boolean, requestId: string | undefined): string[] {
  const error = errorOf(answer);
  return [
    ...(isPlain && !isSuccess(answer)
      ? [`the plain request is refused: ${answer.status} ${error?.code ?? ''}`]
      : []),
    ...(answer.status === 400
      ? [`400 ${error?.fields?.map(({ path }) => path).join(' ')}, which the document does not tell`]
      : []),
    ...(requestId !== undefined && answer.headers.get('x-request-id')?.[0] !== requestId
      ? ['x-request-id is not taken over']
      : []),
  ];
}

/**
 * Some settled writes are sent once more, and their key with something else. Not those that change their
 * own organization: keys are per organization.
 */
async function repeat(
  { document, world, tally }: Sending,
  specimen: Specimen,
  first: Answer,
  random: Random,
): Promise<void> {
  const { wire } = world.calls;
  const { operation } = specimen;
  for (const [name, replayed] of [
    ['replays', random.next() < REPEATED && (await replay(wire, specimen, first))],
    ['other payloads under a key', random.next() < REPEATED && (await conflict(wire, specimen, random))],
  ] as const) {
    if (!replayed) continue;
    tally.count(name);
    const { request, answer } = replayed;
    for (const fault of [...replayed.faults, ...judge(document, operation, answer, request.method)])
      tally.fault(
        `valid ${operation.id}: ${fault}`,
        () => `${shown(request, answer)}, after ${shown(request, first)}`,
      );
  }
}
