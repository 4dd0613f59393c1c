/** `npm run demo`: starts Headrace and runs its main job with the client on examples/workshop. */
import { rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { createClient } from '@headrace/client';
import { createOutput } from './demo/output.ts';
import { demoOwnMachine } from './demo/own-machine.ts';
import { startRecorder } from './demo/recorder.ts';
import { demoRepository } from './demo/repository.ts';
import type { RepositoryOutcome } from './demo/repository.ts';
import { demoReviewLoop } from './demo/review-loop.ts';
import { startService } from './demo/service.ts';
import type { DemoService } from './demo/service.ts';
import { tell } from './demo/story.ts';
import type { Outcome } from './demo/story.ts';
import { demoAutomation } from './demo/unattended.ts';

const HELP = `npm run demo [-- options]
Starts Headrace on a data folder of its own and drives its main job by the client: imports examples/workshop, sets it up once for all
sandboxes, lets two threads edit it at once, previews and applies both drafts, settles a conflict, builds the head and signs it with a
secret, checks the artifact, and replays every event. Then it
makes a git repository, pushes the workshop to it, and merges the pull request of a thread. The checks of a second one fail: its
review loop fixes it, and merges it once they are green. Then an error tracker calls a hook, and all of that happens by itself. At last
a thread works on a machine of somebody's own, in a worktree.

  --keep    keep the service running afterwards, until Ctrl-C
  --fresh   remove the data of earlier demos first
  --json    a summary as JSON on stdout; the progress goes to stderr
  --help

HEADRACE_DATA_DIR   the data folder; default .headrace-demo in the project folder. A second demo goes on with it.`;

const { keep, fresh, json, help } = options();
if (help) {
  console.log(HELP);
  process.exit(0);
}
const given = process.env['HEADRACE_DATA_DIR'];
const dataDir = given ? resolve(given) : join(import.meta.dirname, '../.headrace-demo');
const output = createOutput(json ? process.stderr : process.stdout);
let service: DemoService | undefined;
let isInterrupted = false;
/** The work is done, only the service runs on. */
let isKept = false;
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void interrupt());

try {
  const outcome = await run();
  if (json) console.log(JSON.stringify({ ok: true, ...outcome, steps: output.steps }, null, 2));
} catch (error) {
  await giveUp(error as Error);
}
process.exit(0);

async function run(): Promise<Outcome & RepositoryOutcome> {
  if (fresh) await removeEarlier();
  output.title('Headrace demo: one code base, two threads at once, one head');
  await output.step('start', async () => {
    service = await startService(dataDir);
    return `service on ${service.address}, data in ${dataDir}`;
  });
  const { address, key } = service!;
  const client = createClient({ baseUrl: address, key });
  const recorder = await startRecorder(client);
  let outcome: Outcome & RepositoryOutcome;
  try {
    const told = await tell({ client, output, recorder, folder: join(dataDir, 'artifacts') });
    const story = { client, address, key, output, folder: join(dataDir, 'git') };
    const repository = await demoRepository(story);
    await demoReviewLoop(story, repository.repositoryId, repository.clone);
    await demoAutomation(story, repository.repositoryId, repository.clone);
    await demoOwnMachine(story, repository.repositoryId, repository.clone);
    outcome = { ...told, ...repository };
  } finally {
    await recorder.stop();
  }
  if (keep) await untilInterrupted(address, key);
  await output.step('stop', async () => {
    await service!.stop();
    service = undefined;
    return 'the service stopped cleanly';
  });
  output.table();
  output.title(`The build of revision ${outcome.headRevision} is in:`);
  // Whole, however long: it is there to be copied.
  (json ? process.stderr : process.stdout).write(`${outcome.artifactFolder}\n`);
  return outcome;
}

/** Only what demos made: a folder that was given may hold something else. */
async function removeEarlier(): Promise<void> {
  if (given)
    throw new Error('--fresh is for the default data folder: remove the one in HEADRACE_DATA_DIR yourself.');
  await rm(dataDir, { recursive: true, force: true });
}

async function untilInterrupted(address: string, key: string): Promise<void> {
  output.title(`The service runs on, until Ctrl-C: ${address}, documentation at ${address}/docs`);
  output.title(`Its key: ${key}`);
  isKept = true;
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.removeAllListeners(signal);
  await new Promise<void>((done) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => done());
  });
}

/** The service hears a terminal's Ctrl-C too; a second signal ends this process at once. */
async function interrupt(): Promise<void> {
  if (isInterrupted || isKept) return;
  isInterrupted = true;
  await service?.stop().catch(() => {});
  process.exit(130);
}

async function giveUp(failure: Error): Promise<never> {
  if (isInterrupted) return new Promise(() => {});
  const log = service?.log();
  await service?.stop().catch(() => {});
  console.error(`\nThe demo failed: ${failure.message}`);
  if ((failure as { code?: string }).code === 'unauthorized')
    console.error(
      `The data folder ${dataDir} was not made by the demo; name another one in HEADRACE_DATA_DIR.`,
    );
  if (log) console.error(`\nThe service's last lines:\n${log}`);
  if (json) console.log(JSON.stringify({ ok: false, error: failure.message, steps: output.steps }, null, 2));
  process.exit(1);
}

function options() {
  try {
    return parseArgs({
      options: {
        keep: { type: 'boolean' },
        fresh: { type: 'boolean' },
        json: { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
      },
    }).values;
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${HELP}`);
    process.exit(2);
  }
}
