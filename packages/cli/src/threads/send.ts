/** `headrace send`, `attach`, `thread new`, `fork` and `retry`: work is started, and followed. */
import type { Message, Run, Thread } from '@headrace/client';
import type { Cli } from '../core/cli.ts';
import { EXIT } from '../core/exit.ts';
import type { Exit } from '../core/exit.ts';
import { usage } from '../core/fault.ts';
import { projectNamed } from '../core/ids.ts';
import { atMostOne } from '../core/input.ts';
import { sourceNamed } from '../core/sources.ts';
import { oneLine } from '../terminal/escape.ts';
import { microsOf } from '../terminal/money.ts';
import { followThread } from './follow.ts';
import type { Followed } from './follow.ts';
import { checkpointNamed } from './stop.ts';
import { placeOf, rememberThread, threadPlace } from './place.ts';
import type { Place } from './place.ts';
import { attachmentsOf, messageText } from './talk.ts';

export interface FollowOptions {
  follow: boolean;
  'no-follow': boolean;
  verbose: boolean;
  timeout: number | undefined;
}
interface SendOptions extends FollowOptions {
  model: string | undefined;
  attach: readonly string[];
}

/** One word is the message, unless it names a thread. */
export async function send(
  cli: Cli,
  [first, second]: [string | undefined, string | undefined],
  options: SendOptions,
): Promise<Exit> {
  atMostOne(options, ['follow', 'no-follow']);
  const isThread = second !== undefined || namesThread(first);
  const place = await threadPlace(cli, isThread ? first : undefined);
  const content = await messageText(cli, isThread ? second : first);
  const attachments = attachmentsOf(cli, options.attach);
  const body = {
    content,
    ...(options.model !== undefined && { modelId: options.model }),
    ...(attachments.length > 0 && { attachments }),
  };
  const sent = await cli.write(
    (client) => place.of(client).messages.send(body, { signal: cli.signal }),
    JSON.stringify(body),
  );
  rememberThread(cli, place);
  return followStart(cli, { place, document: sent, after: sent.message.sequence, run: sent.run }, options);
}

const namesThread = (text: string | undefined): boolean =>
  text === '@last' || /^thr_[0-9a-z]{8,26}$/.test(text ?? '') || /^~\S/.test(text ?? '');

interface NewOptions extends FollowOptions {
  title: string | undefined;
  model: string | undefined;
  source: string | undefined;
  'spend-limit': number | undefined;
  project: string | undefined;
  branch: string | undefined;
  issue: string | undefined;
  task: string | undefined;
}

export async function newThread(cli: Cli, text: string | undefined, options: NewOptions): Promise<Exit> {
  atMostOne(options, ['follow', 'no-follow']);
  const { title, model: modelId, source, 'spend-limit': limit, project } = options;
  const { branch: baseBranch, issue: trackerIssueUrl, task: taskId } = options;
  const direct = { baseBranch, trackerIssueUrl, taskId };
  if (project === undefined && Object.values(direct).some((value) => value !== undefined))
    throw usage('--branch, --issue and --task are for threads of a project: give --project.');
  const appId = project === undefined ? await cli.appId() : undefined;
  const projectId = project === undefined ? undefined : await projectNamed(cli, project);
  const sourceId =
    source === undefined || appId === undefined ? source : await sourceNamed(cli, source, appId);
  const content = text === undefined ? undefined : await messageText(cli, text);
  const body = {
    ...(title !== undefined && { title }),
    ...(modelId !== undefined && { modelId }),
    ...(sourceId !== undefined && { sourceId }),
    ...(limit !== undefined && { spendLimitMicros: microsOf(limit)! }),
    ...(content !== undefined && { message: { content } }),
  };
  const made = await cli.write(
    ({ threads }) =>
      appId === undefined
        ? threads.createDirect({ projectId: projectId!, ...direct, ...body }, { signal: cli.signal })
        : threads.create(appId, body, { signal: cli.signal }),
    JSON.stringify([body, projectId]),
  );
  return followNew(cli, appId, made, options);
}

interface ForkOptions extends FollowOptions {
  checkpoint: string | undefined;
  'no-transcript': boolean;
  message: string | undefined;
  title: string | undefined;
  model: string | undefined;
  'spend-limit': number | undefined;
}

export async function fork(cli: Cli, text: string | undefined, options: ForkOptions): Promise<Exit> {
  atMostOne(options, ['follow', 'no-follow']);
  const { checkpoint, message, title, model: modelId, 'spend-limit': limit } = options;
  const place = await threadPlace(cli, text);
  const checkpointId = checkpoint === undefined ? undefined : await checkpointNamed(cli, place, checkpoint);
  const content = message === undefined ? undefined : await messageText(cli, message);
  const body = {
    ...(checkpointId !== undefined && { checkpointId }),
    ...(options['no-transcript'] && { transcript: false }),
    ...(title !== undefined && { title }),
    ...(modelId !== undefined && { modelId }),
    ...(limit !== undefined && { spendLimitMicros: microsOf(limit)! }),
    ...(content !== undefined && { message: { content } }),
  };
  const made = await cli.write(
    (client) => place.of(client).fork(body, { signal: cli.signal }),
    JSON.stringify([body, place.threadId]),
  );
  return followNew(cli, place.appId, made, options);
}

/** The new thread is the last one from now on; its first message, if it has one, is followed. */
async function followNew(
  cli: Cli,
  appId: string | undefined,
  made: { thread: Thread; message?: Message; run?: Run },
  options: FollowOptions,
): Promise<Exit> {
  const place = placeOf(appId, made.thread.id);
  rememberThread(cli, place);
  const { message, run } = made;
  if (!message || !run) {
    cli.show({ ...made }, () => `${made.thread.id}  ${oneLine(made.thread.title ?? '')}`.trimEnd());
    return EXIT.done;
  }
  return followStart(cli, { place, document: { ...made }, after: message.sequence, run }, options);
}

export async function retry(cli: Cli, text: string | undefined, options: FollowOptions): Promise<Exit> {
  atMostOne(options, ['follow', 'no-follow']);
  const place = await threadPlace(cli, text);
  const { signal } = cli;
  const { items } = await place.of(cli.client).messages.list({ order: 'desc', limit: 1, signal });
  const run = await cli.write((client) => place.of(client).runs.retry({ signal }));
  return followStart(cli, { place, document: { run }, after: items[0]?.sequence, run }, options);
}

interface Started {
  place: Place;
  /** The answer of the write. */
  document: Record<string, unknown>;
  /** The last message that is not a reply to it. */
  after: number | undefined;
  run: Run;
}

/** On a terminal and with --follow, until the run has ended. */
async function followStart(
  cli: Cli,
  { place, document, after, run }: Started,
  options: FollowOptions,
): Promise<Exit> {
  if (!options.follow && (!cli.isTerminal || options['no-follow'])) {
    cli.show(document, () => `${place.threadId}  ${run.id}  ${run.status}`);
    cli.say(cli.paintTalk('dim', `→ headrace attach ${place.threadId} follows it`));
    return EXIT.done;
  }
  const followed = await followThread(cli, place, {
    ...(after !== undefined && { from: after }),
    runId: run.id,
    isVerbose: options.verbose,
    timeoutMs: options.timeout,
  });
  const last = followed.runs.get(run.id) ?? run;
  if (cli.globals.json) {
    const thread = 'thread' in document && {
      thread: await place.of(cli.client).get({ signal: cli.signal }),
    };
    cli.show({ ...document, ...thread, run: last, replies: followed.messages }, () => '');
  }
  return exitOf(followed, last.status === 'completed');
}

const exitOf = ({ end }: Followed, isDone: boolean): Exit =>
  end === 'ended' ? (isDone ? EXIT.done : EXIT.failed) : EXIT.interrupted;

interface AttachOptions {
  from: string | undefined;
  verbose: boolean;
  timeout: number | undefined;
}

export async function attach(
  cli: Cli,
  text: string | undefined,
  { from, verbose, timeout }: AttachOptions,
): Promise<Exit> {
  if (from !== undefined && from !== 'now' && !/^\d{1,9}$/.test(from))
    throw usage(`--from is the number of a message, or now, not ${JSON.stringify(from)}.`);
  const place = await threadPlace(cli, text);
  // The follower waits for the service without end: whether the thread is there is asked before.
  await place.of(cli.client).get({ signal: cli.signal });
  rememberThread(cli, place);
  const followed = await followThread(cli, place, {
    ...(from !== undefined && { from: from === 'now' ? 'now' : Number(from) }),
    isVerbose: verbose,
    timeoutMs: timeout,
  });
  const { thread, messages, runs } = followed;
  if (cli.globals.json) cli.show({ thread, messages, runs: [...runs.values()] }, () => '');
  return exitOf(followed, thread?.status !== 'failed');
}
