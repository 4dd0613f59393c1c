/** A build from its start to its end. */
import { HeadraceError } from '@headrace/client';
import type { Build, CallOptions, CreateBuildInput } from '@headrace/client';
import { Away, pause } from '../core/away.ts';
import type { Cli } from '../core/cli.ts';
import { untilLeft } from '../core/detach.ts';
import { EXIT } from '../core/exit.ts';
import type { Exit } from '../core/exit.ts';
import { Fault } from '../core/fault.ts';
import { shown } from '../terminal/escape.ts';
import { bytes, lasting } from '../terminal/times.ts';
import { followLog, logOf, PAUSE_MS } from './log.ts';
import { lastBuild, NO_THREAD } from './names.ts';
import { countOf } from '../terminal/count.ts';

export interface BuildOrder {
  appId: string;
  /** Or `NO_THREAD`. */
  threadId: string;
  body: CreateBuildInput;
}

/** The body distinguishes several builds of one command, which may be that of an earlier build. */
export async function startBuild(cli: Cli, { appId, threadId, body }: BuildOrder): Promise<Build> {
  const build = await cli.write(
    (client) =>
      threadId === NO_THREAD
        ? client.builds.createOfApp(appId, body, { signal: cli.signal })
        : client.builds.create(appId, threadId, body, { signal: cli.signal }),
    `build ${JSON.stringify(body)}`,
  );
  cli.remember(lastBuild(appId), build.id);
  cli.say(cli.paintTalk('dim', `${build.id} builds ${build.sourceId}: ${shown(build.command)}`));
  return build;
}

/**
 * Prints the log until the build has ended, not with `--json`. Undefined if the user left with Ctrl-C: the build then
 * goes on, unless Ctrl-C was pressed again.
 */
export function followBuild(cli: Cli, { id: buildId, projectId: appId }: Build): Promise<Build | undefined> {
  return untilLeft(
    cli,
    async (signal) => {
      if (!cli.isJson) await followLog(cli, logOf(cli, { appId, id: buildId, signal }));
      return endOf(cli, { appId, buildId, signal });
    },
    {
      left: `The build goes on. Its log: headrace logs -f ${buildId}`,
      again: 'cancels the build',
      end: () => cancelRunning(cli, appId, buildId),
    },
  );
}

/** Waits until the build has ended, also for a service that is away. */
export const endOf = (
  cli: Cli,
  { appId, buildId, signal }: { appId: string; buildId: string; signal: AbortSignal },
): Promise<Build> => untilEnded(cli, signal, (options) => cli.client.builds.get(appId, buildId, options));

/** Waits until a build or a setup has ended, also for a service that is away. */
export async function untilEnded<T extends { status: string }>(
  cli: Cli,
  signal: AbortSignal,
  read: (options: CallOptions & { waitSeconds: number }) => Promise<T>,
): Promise<T> {
  const away = new Away(cli);
  for (;;) {
    const since = Date.now();
    const now = await away.read(() => read({ waitSeconds: 25, signal, attemptTimeoutMs: 35_000 }), signal);
    if (now.status === 'ready' || now.status === 'failed') return now;
    if (Date.now() - since < PAUSE_MS) await pause(PAUSE_MS, signal);
  }
}

async function cancelRunning(cli: Cli, appId: string, buildId: string): Promise<void> {
  try {
    await cli.write((client) => client.builds.cancel(appId, buildId), `cancel ${buildId}`);
    cli.say('The build is cancelled.');
  } catch (error) {
    if (!(error instanceof HeadraceError && error.code === 'build_not_active')) throw error;
    cli.say('The build had ended already.');
  }
}

/** Says how it ended. Throws the Fault of one that failed, with --json returns its exit code. */
export function reportBuild(cli: Cli, build: Build): Exit {
  if (cli.isJson) {
    cli.show({ build }, () => '');
    return build.status === 'ready' ? EXIT.done : EXIT.failed;
  }
  if (build.status !== 'ready') throw failureOf(cli, build);
  const size = `${countOf(build.fileCount ?? 0, 'file')}, ${bytes(build.artifactByteSize ?? 0)}`;
  cli.say(`${cli.paintTalk('green', '✓')} ${build.id} is ready${timeOf(build)}: ${size}`);
  cli.say(cli.paintTalk('dim', `  sha256 ${build.artifactSha256}`));
  return EXIT.done;
}

function failureOf(cli: Cli, build: Build): Fault {
  const { code = 'failed', message = '' } = build.error ?? {};
  // The service adds the last lines of the log, which a terminal already shows.
  const why = cli.isTerminal ? message.split(' Its last output: ', 1)[0]! : message;
  return new Fault(EXIT.failed, `${build.id} failed${timeOf(build)}: ${code}. ${why}`, {
    code,
    hint: `headrace logs ${build.id}`,
  });
}

/** How long it took, for a sentence. */
export const timeOf = ({ startedAt, finishedAt }: Pick<Build, 'startedAt' | 'finishedAt'>): string =>
  startedAt === null || finishedAt === null
    ? ''
    : ` after ${lasting(Date.parse(finishedAt) - Date.parse(startedAt))}`;
