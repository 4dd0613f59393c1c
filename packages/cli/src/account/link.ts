/** `headrace init`, `link` and `unlink`: the app that a folder belongs to. */
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { App } from '@headrace/client';
import { LINK_FILE, writeLink } from '../config/link.ts';
import type { Cli } from '../core/cli.ts';
import { EXIT } from '../core/exit.ts';
import { Fault, usage } from '../core/fault.ts';
import { oneLine } from '../terminal/escape.ts';

const OFFERED = 50;
const NEW = 'new';

export async function initFolder(cli: Cli, create: string | undefined): Promise<void> {
  const path = join(cli.io.cwd, LINK_FILE);
  if (existsSync(path)) throw usage(`${path} is there already.`, 'headrace link APP changes it');
  const { app } = cli.globals;
  if (create !== undefined && app !== undefined) throw usage('--create and --app exclude each other.');
  if (create !== undefined) return linkTo(cli, await createApp(cli, create));
  if (app !== undefined) return linkFolder(cli, app);
  const chosen = await chooseApp(cli);
  if (chosen !== NEW) return linkFolder(cli, chosen);
  const name = await cli.text('What is the app called?', '--create NAME', (text) =>
    text.trim() === '' ? 'An app has a name.' : undefined,
  );
  linkTo(cli, await createApp(cli, name));
}

async function chooseApp(cli: Cli): Promise<string> {
  const question = 'Which app does this folder belong to?';
  const flags = '--app APP or --create NAME';
  if (!cli.canAsk) return cli.choose(question, [], flags);
  const { items } = await cli.client.apps.list({ limit: OFFERED, signal: cli.signal });
  if (items.length === 0) return NEW;
  const existing = items.map(({ id, name }) => ({ value: id, label: oneLine(name), hint: id }));
  return cli.choose(question, [{ value: NEW, label: 'A new app' }, ...existing], flags);
}

const createApp = (cli: Cli, name: string): Promise<App> =>
  cli.write((client) => client.apps.create({ name }, { signal: cli.signal }), name);

/** Makes sure that the app exists. */
export async function linkFolder(cli: Cli, app: string): Promise<void> {
  const id = await cli.appNamed(app);
  linkTo(cli, await cli.client.apps.get(id, { signal: cli.signal }));
}

function linkTo(cli: Cli, app: App): void {
  const { url } = cli.target;
  const path = writeLink(cli.io.cwd, { url, app: app.id });
  cli.remember(`app ${url}`, app.id);
  cli.show({ path, url, app }, () => `${LINK_FILE}  ${app.id}  ${oneLine(app.name)}`);
}

export function unlinkFolder(cli: Cli): void {
  const path = join(cli.io.cwd, LINK_FILE);
  if (!existsSync(path)) throw new Fault(EXIT.notFound, `This folder has no ${LINK_FILE}.`);
  rmSync(path);
  cli.show({ path }, () => `Removed ${LINK_FILE}.`);
}
