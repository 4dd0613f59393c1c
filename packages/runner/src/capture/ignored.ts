import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { RunnerError } from '../errors.ts';
import type { IgnoreAnswer, IgnoreQuestion } from './ignore-question.ts';

/** Only a safeguard: the matcher counts its steps, which take a fraction of a second. */
const LONGEST_MS = 20_000;
const HEAP_MIB = 512;

let worker: Worker | undefined;
let last: Promise<unknown> = Promise.resolve();

/**
 * Which of the paths are ignored (1) and which are not (0), in order. Strangers write both patterns and
 * names, so a thread matches them, one question after another. Throws `too_large` 413 when that takes too
 * long.
 */
export function findIgnored(question: IgnoreQuestion): Promise<Uint8Array> {
  const answer = last.then(() => ask(question));
  last = answer.catch(() => {
    /* its caller's */
  });
  return answer;
}

async function ask(question: IgnoreQuestion): Promise<Uint8Array> {
  const thread = (worker ??= start());
  const answer = await answerOf(thread, question).catch((error: Error) => {
    worker = undefined;
    void thread.terminate();
    throw tooLarge(`The .gitignore files of the workspace cannot be matched: ${error.message}`);
  });
  if ('refused' in answer) throw tooLarge(answer.refused);
  return answer.ignored;
}

async function answerOf(thread: Worker, question: IgnoreQuestion): Promise<IgnoreAnswer> {
  thread.postMessage(question, []);
  const [answer] = (await once(thread, 'message', { signal: AbortSignal.timeout(LONGEST_MS) })) as [
    IgnoreAnswer,
  ];
  return answer;
}

function start(): Worker {
  const thread = new Worker(new URL('./ignored.worker.ts', import.meta.url), {
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MIB },
    name: 'ignored',
  });
  thread.unref();
  // One that ends between two questions must not end the runner.
  return thread.on('error', () => {
    if (worker === thread) worker = undefined;
  });
}

const tooLarge = (message: string): RunnerError => new RunnerError(413, 'too_large', message);
