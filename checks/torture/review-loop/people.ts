/** Random actions of people and CI: changing checks, comments, pushes, conflicts with the base. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../../harness/random.ts';
import type { Storm } from '../lib/storm.ts';
import { commitAsAnother, create, edit, pullsOf } from '../scm/pulls.ts';
import { read, write } from '../scm/world.ts';
import type { TortureThread, World } from '../scm/world.ts';
import { sideOf } from './sides.ts';
import type { Side } from './sides.ts';

/** A pull request whose loop is enabled. */
export interface Reviewed {
  thread: TortureThread;
  id: string;
  number: number;
  headRef: string;
  autoMerge: boolean;
  side: Side;
}

/** The start of each pass's message. */
export const INSTRUCTIONS = 'Torture: make the checks green.';
export const CONTEXTS = ['ci', 'lint'] as const;
const MAX_PAUSE_MS = 1_200;
const CONFLICTING = 0.05;

export const fixesOf = ({ id }: TortureThread): string => `fixes-${id.slice(-6)}.txt`;
/** The file of each thread's first edit. */
const editedOf = ({ id }: TortureThread): string => `work/${id.slice(-6)}-0.txt`;

/** One pass in ten changes nothing. */
const script = (thread: TortureThread) =>
  `${INSTRUCTIONS}\n\n\`\`\`sh\ncase $(date +%N) in 5*) ;; *) echo pass >> ${fixesOf(thread)} ;; esac\n\`\`\`\n`;

const repairScript = (thread: TortureThread) =>
  `echo both > ${editedOf(thread)}\necho '{"status": "resolved", "summary": "Both.", "checks": []}' > .hoplite/repair/report.json`;

export async function openReviewed(
  world: World,
  thread: TortureThread,
  { autoMerge }: { autoMerge: boolean },
): Promise<Reviewed | null> {
  const caller = world.fleet.callers[0]!;
  await caller.call('PATCH', `/api/projects/${thread.projectId}/settings`, {
    reviewLoop: { instructions: script(thread), maxPasses: 20, mergeMethod: 'merge' },
  });
  await caller.call('PATCH', `/api/projects/${thread.projectId}`, {
    metadata: { 'headrace.repairScript': repairScript(thread) },
  });
  await edit(world, thread, '0');
  const pull = await create(world, thread, 0, { reviewLoop: { enabled: true, autoMerge } });
  return pull && { thread, ...pull, autoMerge, side: sideOf(world, thread.repository) };
}

/** The current pull request. With `after`, it waits briefly for a newer version. */
export const pullNow = async (world: World, { thread, id }: Reviewed, after?: number) =>
  (
    await read(
      world,
      `${pullsOf(thread)}/${id}${after === undefined ? '' : `?afterVersion=${after}&waitSeconds=2`}`,
    )
  ).pullRequest;

/** Restarts a loop, as a person does. */
export async function enable(world: World, { thread, id }: Reviewed, key: string): Promise<void> {
  const { status, text } = await write(world, {
    method: 'PATCH',
    path: `${pullsOf(thread)}/${id}/review-loop`,
    body: { enabled: true },
    key: `torture-enable-${key}`,
  });
  // It was merged in the meantime.
  if (status !== 200 && !text.includes('"pull_request_not_open"') && !text.includes('"draft_sealed"'))
    world.failures.push(`${id}: enable: ${status} ${text.slice(0, 300)}`);
}

export async function review(
  world: World,
  one: Reviewed,
  { steps, storm }: { steps: number; storm: Storm },
): Promise<void> {
  const random = world.setup.random.fork(one.thread.id);
  for (let n = 0; n < steps; n++) {
    await storm.step();
    await sleep(random.below(MAX_PAUSE_MS), undefined, { signal: world.setup.signal });
    const pull = await pullNow(world, one);
    if (pull.state === 'open') await doSomething(world, one, { pull, random, n });
  }
}

interface Moment {
  // oxlint-disable-next-line typescript/no-explicit-any -- as answered; a wrong name fails the part
  pull: any;
  random: Random;
  n: number;
}

async function doSomething(world: World, one: Reviewed, { pull, random, n }: Moment): Promise<void> {
  const { side, number } = one;
  const draw = n === 0 ? 0 : random.next();
  if (['blocked', 'error'].includes(pull.reviewLoop.status) && draw > 0.7)
    return enable(world, one, `${one.id}-${n}`);
  if (draw < 0.4) {
    const state = random.pick(['success', 'failure', 'failure', 'failure', 'pending'] as const);
    return side.report(pull.headSha, random.pick(CONTEXTS), state);
  }
  if (draw < 0.7)
    return side.comment(number, `Please look at this.\n\n~~~\n\`\`\`sh\n${n}\n`, random.next() < 0.8);
  if (draw < 0.8) {
    const open = (await side.threads(number)).filter(({ isResolved }) => !isResolved);
    return open.length ? side.resolve(number, random.pick(open).id) : undefined;
  }
  const isConflict = draw > 1 - CONFLICTING;
  await commitAsAnother(
    world,
    {
      repository: one.thread.repository,
      branch: isConflict ? 'main' : one.headRef,
      file: {
        path: isConflict ? editedOf(one.thread) : `other-${random.below(1e9)}.txt`,
        content: `by another ${n}\n`,
      },
    },
    random,
  );
}
