/** `headrace run`: a new thread, its run, the apply and the build. Each step has a key: a killed command continues. */
import type { Apply, Build, Run, Thread } from '@headrace/client';
import { appliesOf } from '../applies/list.ts';
import { waitForApply } from '../applies/wait.ts';
import { followBuild, startBuild } from '../builds/wait.ts';
import type { Cli } from '../core/cli.ts';
import { EXIT } from '../core/exit.ts';
import type { Exit } from '../core/exit.ts';
import { interrupted } from '../core/fault.ts';
import { rememberLast } from '../core/ids.ts';
import { oneLine, shown } from '../terminal/escape.ts';
import { followThread } from './follow.ts';
import { placeOf, rememberThread } from './place.ts';
import { changeOf } from './run-end.ts';
import { messageText } from './talk.ts';
import { countOf } from '../terminal/count.ts';

interface RunOptions {
  apply: boolean;
  manual: boolean;
  build: string | undefined;
  directory: string | undefined;
  title: string | undefined;
  model: string | undefined;
  verbose: boolean;
  timeout: number | undefined;
}
/** What has been done, and the step that failed. */
interface Done {
  thread: Thread;
  run: Run;
  apply: Apply | null;
  build: Build | null;
  failed: 'run' | 'apply' | 'build' | null;
  exit: Exit;
}

export async function runWork(cli: Cli, text: string, options: RunOptions): Promise<Exit> {
  const appId = await cli.appId();
  const done = await work(cli, appId, await messageText(cli, text), options);
  const { failed, exit, ...made } = done;
  if (cli.isJson) {
    const thread = await cli.client.threads.get(appId, made.thread.id, { signal: cli.signal });
    cli.show({ ...made, thread, failed }, () => '');
  }
  if (!cli.isJson && failed && exit !== EXIT.interrupted)
    cli.say(`${cli.paintTalk('red', '✗')} The step that failed: ${failed}`);
  return exit;
}

async function work(cli: Cli, appId: string, content: string, options: RunOptions): Promise<Done> {
  const { thread, run } = await agentWork(cli, { appId, content, options });
  const done: Done = { thread, run, apply: null, build: null, failed: null, exit: EXIT.done };
  if (run.status !== 'completed')
    return { ...done, failed: 'run', exit: run.status === 'cancelled' ? EXIT.interrupted : EXIT.failed };
  if (options.apply) {
    if (changeOf(run) === null) cli.say('The run changed no file: there is nothing to apply.');
    else done.apply = await applyWork(cli, { appId, run, isManual: options.manual });
    if (done.apply && done.apply.status !== 'applied')
      return {
        ...done,
        failed: 'apply',
        exit: done.apply.status === 'conflicted' ? EXIT.conflict : EXIT.failed,
      };
  }
  if (options.build === undefined) return done;
  done.build = await buildWork(cli, { appId, run, apply: done.apply, command: options.build, options });
  return done.build.status === 'ready' ? done : { ...done, failed: 'build', exit: EXIT.failed };
}

interface AgentWork {
  appId: string;
  content: string;
  options: RunOptions;
}

async function agentWork(
  cli: Cli,
  { appId, content, options }: AgentWork,
): Promise<{ thread: Thread; run: Run }> {
  const { title, model: modelId, verbose, timeout } = options;
  const body = {
    message: { content },
    ...(title !== undefined && { title }),
    ...(modelId !== undefined && { modelId }),
  };
  const made = await cli.write(
    (client) => client.threads.create(appId, body, { signal: cli.signal }),
    JSON.stringify(body),
  );
  const place = placeOf(appId, made.thread.id);
  rememberThread(cli, place);
  cli.say(cli.paintTalk('dim', `Thread ${place.threadId}`));
  const followed = await followThread(cli, place, {
    from: made.message!.sequence,
    runId: made.run!.id,
    isVerbose: verbose,
    isApplied: options.apply,
    timeoutMs: timeout,
  });
  // Its key stays, so the same command goes on with this thread.
  if (followed.end === 'left')
    throw interrupted(
      'The same command goes on with the thread. headrace attach only follows it, headrace stop stops it.',
    );
  return { thread: made.thread, run: followed.runs.get(made.run!.id) ?? made.run! };
}

async function applyWork(
  cli: Cli,
  { appId, run, isManual }: { appId: string; run: Run; isManual: boolean },
): Promise<Apply> {
  const queued = await cli.write((client) =>
    client.applies.create(
      appId,
      run.threadId,
      { expectedSourceId: run.resultSourceId!, ...(isManual && { conflictResolution: 'manual' }) },
      { signal: cli.signal },
    ),
  );
  rememberLast(cli, appliesOf(cli, appId), queued.id);
  const apply = await waitForApply(cli, queued);
  if (apply.status === 'applied')
    cli.say(`${cli.paintTalk('green', '✓')} Applied: ${apply.resultSourceId} is the head`);
  else if (apply.status === 'conflicted')
    cli.say(
      `${cli.paintTalk('yellow', '!')} ${countOf(apply.conflicts.length, 'conflict')} with the head: ${apply.conflicts.map(oneLine).join(', ')}\n→ headrace apply ${apply.threadId}`,
    );
  else cli.say(`${cli.paintTalk('red', '✗')} ${apply.id} failed: ${shown(apply.error ?? '')}`);
  return apply;
}

interface BuildWork {
  appId: string;
  run: Run;
  apply: Apply | null;
  command: string;
  options: RunOptions;
}

/** Of the head that was applied, else of the thread's source. */
async function buildWork(cli: Cli, { appId, run, apply, command, options }: BuildWork): Promise<Build> {
  const sourceId = apply?.resultSourceId ?? run.resultSourceId!;
  const body = { command, outputDirectory: options.directory ?? 'dist', sourceId };
  const ended = await followBuild(cli, await startBuild(cli, { appId, threadId: run.threadId, body }));
  if (!ended) throw interrupted('The same command goes on with the build.');
  if (ended.status === 'ready')
    cli.say(`${cli.paintTalk('green', '✓')} ${ended.id} is ready. → headrace artifact ${ended.id}`);
  else
    cli.say(
      `${cli.paintTalk('red', '✗')} ${ended.id} failed: ${shown(ended.error?.message ?? '')}\n→ headrace logs ${ended.id}`,
    );
  return ended;
}
