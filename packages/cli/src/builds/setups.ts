/** `headrace setup …` */
import type { CreateSetupInput, Setup } from '@headrace/client';
import type { Cli } from '../core/cli.ts';
import { EXIT } from '../core/exit.ts';
import type { Exit } from '../core/exit.ts';
import { Fault } from '../core/fault.ts';
import { idOf } from '../core/names.ts';
import { sourceNamed } from '../core/sources.ts';
import { oneLine, shown } from '../terminal/escape.ts';
import { statusColor } from '../terminal/style.ts';
import type { Column } from '../terminal/table.ts';
import { ago, bytes, lasting } from '../terminal/times.ts';
import { followLog, logOf, printLog } from './log.ts';
import { timeOf, untilEnded } from './wait.ts';

const PAGE = 200;
const lastSetup = (appId: string): string => `setup ${appId}`;
const NONE = 'There are no setups yet. → headrace setup run';

const COLUMNS: readonly Column<Setup>[] = [
  { header: 'ID', value: ({ id }) => id, whole: true },
  { header: 'STATUS', value: ({ status }) => status, color: ({ status }) => statusColor(status) },
  { header: 'COMMAND', value: ({ command }) => command },
  { header: 'SIZE', value: ({ byteSize }) => (byteSize === null ? null : bytes(byteSize)) },
  { header: 'CREATED', value: ({ createdAt }) => ago(createdAt) },
];

export async function listSetups(cli: Cli, { limit }: { limit: number | undefined }): Promise<void> {
  const appId = await cli.appId();
  await cli.list({
    member: 'setups',
    page: (options) => cli.client.setups.list(appId, options),
    columns: COLUMNS,
    empty: NONE,
    limit,
  });
}

/** By default the setup that the user worked with last, else the app's newest. */
async function setupNamed(cli: Cli, text: string | undefined, appId: string): Promise<string> {
  const { signal } = cli;
  const newest = async () => (await cli.client.setups.list(appId, { limit: 1, signal })).items[0]?.id;
  const id = text ?? cli.last(lastSetup(appId)) ?? (await newest());
  if (id === undefined)
    throw new Fault(EXIT.notFound, 'The app has no setups yet.', { hint: 'headrace setup run' });
  return idOf(id, {
    what: 'setup',
    prefix: 'set_',
    listing: 'headrace setup list',
    list: () => labelled(cli, appId),
    last: () => cli.last(lastSetup(appId)),
  });
}

async function* labelled(cli: Cli, appId: string) {
  const setups = cli.client.setups.list(appId, { limit: PAGE, signal: cli.signal });
  for await (const { id, command } of setups) yield { id, label: command };
}

export async function showSetup(cli: Cli, name: string | undefined): Promise<void> {
  const appId = await cli.appId();
  const id = await setupNamed(cli, name, appId);
  const setup = await cli.client.setups.get(appId, id, { signal: cli.signal });
  cli.show({ setup }, () => textOf(cli, setup));
}

function textOf(cli: Cli, setup: Setup): string {
  const { startedAt, finishedAt, exitCode, error, byteSize } = setup;
  return cli.details([
    ['ID', setup.id],
    ['Status', cli.paint(statusColor(setup.status), setup.status)],
    ['Command', oneLine(setup.command)],
    ['Source', setup.sourceId],
    ['Key', setup.key],
    ['Created', ago(setup.createdAt)],
    ['Took', startedAt && finishedAt && lasting(Date.parse(finishedAt) - Date.parse(startedAt))],
    ['Exit code', exitCode === null ? null : String(exitCode)],
    ['Layer', byteSize === null ? null : bytes(byteSize)],
    ['Error', error && `${error.code}: ${shown(error.message)}`],
  ]);
}

export async function showSetupLogs(
  cli: Cli,
  name: string | undefined,
  { follow }: { follow: boolean },
): Promise<void> {
  const appId = await cli.appId();
  const id = await setupNamed(cli, name, appId);
  if (follow && cli.isJson && !cli.globals.jsonl) await endOf(cli, { appId, id, signal: cli.signal });
  await printLog(cli, { appId, id, follow });
}

interface RunOptions {
  source: string | undefined;
  force: boolean;
  'no-wait': boolean;
}

/** Makes the setup, or finds the one that is there; prints its log while it runs. */
export async function runSetup(cli: Cli, { source, force, 'no-wait': noWait }: RunOptions): Promise<Exit> {
  const appId = await cli.appId();
  const body: CreateSetupInput = {
    ...(source !== undefined && { sourceId: await sourceNamed(cli, source, appId) }),
    ...(force && { force }),
  };
  const setup = await cli.write(
    (client) => client.setups.create(appId, body, { signal: cli.signal }),
    `setup ${JSON.stringify(body)}`,
  );
  cli.remember(lastSetup(appId), setup.id);
  const isEnded = setup.status === 'ready' || setup.status === 'failed';
  if (noWait || isEnded) return report(cli, setup);
  cli.say(cli.paintTalk('dim', `${setup.id} runs: ${oneLine(setup.command)}`));
  const place = { appId, id: setup.id, signal: cli.signal };
  if (!cli.isJson) await followLog(cli, logOf(cli, place));
  return report(cli, await endOf(cli, place));
}

const endOf = (
  cli: Cli,
  { appId, id, signal }: { appId: string; id: string; signal: AbortSignal },
): Promise<Setup> => untilEnded(cli, signal, (options) => cli.client.setups.get(appId, id, options));

function report(cli: Cli, setup: Setup): Exit {
  const isFailed = setup.status === 'failed';
  if (isFailed && !cli.isJson)
    throw new Fault(
      EXIT.failed,
      `${setup.id} failed${timeOf(setup)}: ${setup.error?.code ?? 'failed'}. ${setup.error?.message ?? ''}`,
      { code: setup.error?.code ?? 'failed', hint: `headrace setup logs ${setup.id}` },
    );
  cli.show({ setup }, () => setup.id);
  if (setup.status === 'ready')
    cli.say(
      `${cli.paintTalk('green', '✓')} ${setup.id} is ready${timeOf(setup)}: ${bytes(setup.byteSize ?? 0)}`,
    );
  return isFailed ? EXIT.failed : EXIT.done;
}
