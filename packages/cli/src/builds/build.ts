/** `headrace build` */
import { resolve } from 'node:path';
import { HeadraceError } from '@headrace/client';
import { Away } from '../core/away.ts';
import type { Cli } from '../core/cli.ts';
import { EXIT } from '../core/exit.ts';
import type { Exit } from '../core/exit.ts';
import { usage } from '../core/fault.ts';
import { sourceNamed } from '../core/sources.ts';
import { shellText } from '../core/shell-text.ts';
import { shown } from '../terminal/escape.ts';
import { newestBuild, NO_THREAD, workedWith } from './names.ts';
import { followBuild, reportBuild, startBuild } from './wait.ts';
import type { BuildOrder } from './wait.ts';

interface BuildOptions {
  directory: string | undefined;
  source: string | undefined;
  timeout: number | undefined;
  setup: boolean;
  watch: boolean;
  output: string | undefined;
  force: boolean;
}

const OUTPUT_DIRECTORY = 'dist';

export async function build(
  cli: Cli,
  thread: string | undefined,
  options: BuildOptions,
  command: readonly string[],
): Promise<Exit> {
  if (options.watch && options.source !== undefined)
    throw usage('--watch builds the newest source, so it excludes --source.');
  if (options.watch && thread === NO_THREAD) throw usage('--watch follows a thread, and `none` is not one.');
  if (options.watch && cli.globals.json) throw usage('--watch prints several documents: use --jsonl.');
  const appId = await cli.appId();
  const threadId = await workedWith(cli, thread, appId);
  const order = { appId, threadId, body: await bodyOf(cli, appId, options, command) };
  return options.watch ? watch(cli, order, options) : buildOnce(cli, order, options);
}

/** Without a command, that of the app's newest build. */
async function bodyOf(
  cli: Cli,
  appId: string,
  { directory, source, timeout, setup }: BuildOptions,
  words: readonly string[],
): Promise<BuildOrder['body']> {
  const last = words.length === 0 ? await newestBuild(cli, appId) : undefined;
  if (words.length === 0 && !last)
    throw usage('Which command? The app has no earlier build to repeat.', 'headrace build -- npm run build');
  return {
    command: last?.command ?? shellText(words),
    outputDirectory: directory ?? last?.outputDirectory ?? OUTPUT_DIRECTORY,
    ...(source !== undefined && { sourceId: await sourceNamed(cli, source, appId) }),
    ...((setup || last?.setup) && { setup: true }),
    ...(timeout !== undefined && { timeoutSeconds: Math.ceil(timeout / 1000) }),
  };
}

async function buildOnce(
  cli: Cli,
  order: BuildOrder,
  { output, force }: Pick<BuildOptions, 'output' | 'force'>,
): Promise<Exit> {
  const ended = await followBuild(cli, await startBuild(cli, order));
  if (!ended) return EXIT.interrupted;
  const exit = reportBuild(cli, ended);
  if (exit === EXIT.done && output !== undefined) {
    const { installArtifact } = await import('./artifact.ts');
    await installArtifact(cli, ended, { folder: resolve(cli.io.cwd, output), force });
  }
  return exit;
}

/** Builds each newest source of the thread, one at a time, until Ctrl-C. */
async function watch(cli: Cli, order: BuildOrder, options: BuildOptions): Promise<Exit> {
  const { appId, threadId, body } = order;
  const away = new Away(cli);
  const changes = new Changes(cli, appId, threadId);
  const latest = () => cli.client.threads.get(appId, threadId, { signal: cli.signal });
  for (let built: string | null = null; ;) {
    const { latestSourceId } = await away.read(latest, cli.signal);
    if (latestSourceId !== null && latestSourceId !== built) {
      const pinned = { ...order, body: { ...body, sourceId: latestSourceId } };
      const exit = await unlessBusy(cli, () => buildOnce(cli, pinned, options));
      if (exit === EXIT.interrupted) return exit;
      if (exit !== undefined) {
        built = latestSourceId;
        cli.say(cli.paintTalk('dim', 'Waiting for a new source. Ctrl-C ends.'));
        continue;
      }
    }
    await changes.next();
  }
}

/** Undefined if the thread has other work: its end is a change. A build that fails is reported, and the wait goes on. */
async function unlessBusy(cli: Cli, work: () => Promise<Exit>): Promise<Exit | undefined> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof HeadraceError && error.code === 'thread_busy') return undefined;
    const { reportOf } = await import('../core/report.ts');
    const { exit, message } = reportOf(error);
    if (exit !== EXIT.failed) throw error;
    cli.io.stderr.write(`${cli.paintTalk('red', 'headrace:')} ${shown(message)}\n`);
    return exit;
  }
}

/** Whether something about the thread has changed since the last look. */
class Changes {
  #isChanged = false;
  #failure: { error: unknown } | undefined;
  #wake = (): void => undefined;

  constructor(cli: Cli, appId: string, threadId: string) {
    this.#follow(cli, appId, threadId).catch((error: unknown) => {
      this.#failure = { error };
      this.#wake();
    });
  }

  async next(): Promise<void> {
    if (!this.#isChanged && !this.#failure) await new Promise<void>((resolve) => (this.#wake = resolve));
    if (this.#failure) throw this.#failure.error;
    this.#isChanged = false;
  }

  async #follow(cli: Cli, appId: string, threadId: string): Promise<void> {
    const { onState } = new Away(cli);
    for await (const item of cli.client.events.stream({ appId, threadId }, { signal: cli.signal, onState })) {
      if (item.kind !== 'event' && item.kind !== 'reset') continue;
      this.#isChanged = true;
      this.#wake();
    }
    throw usage('The app was deleted.');
  }
}
