/** `headrace settings …`: of an app, a project or the organization. */
import type { Settings, UpdateAppSettingsInput } from '@headrace/client';
import { assignments, bodyOf, pathOf, requireChange } from '../core/body.ts';
import type { Cli } from '../core/cli.ts';
import { EXIT } from '../core/exit.ts';
import { Fault, usage } from '../core/fault.ts';
import { isRecord } from '../config/files.ts';
import { projectNamed } from '../core/ids.ts';
import { atMostOne } from '../core/input.ts';
import { nearest } from '../core/nearest.ts';
import { shown } from '../terminal/escape.ts';

interface Whose {
  organization: boolean;
  project: string | undefined;
}
type Body = UpdateAppSettingsInput;

export async function getSettings(cli: Cli, key: string | undefined, whose: Whose): Promise<void> {
  const settings = await (await settingsOf(cli, whose)).read();
  if (key === undefined || cli.isJson)
    return cli.show({ settings }, () =>
      cli.details(Object.entries(settings).map(([name, value]) => [name, textOf(value)])),
    );
  const value = valueAt(settings, key);
  cli.print(typeof value === 'string' ? shown(value) : JSON.stringify(value));
}

interface Change extends Whose {
  input: string | undefined;
}

export async function setSettings(cli: Cli, words: readonly string[], change: Change): Promise<void> {
  const target = await settingsOf(cli, change);
  const given = await bodyOf<Body>(cli, change.input, await assignments(cli, words));
  requireChange(given);
  const before = await target.read();
  const body = completed(given, before);
  const settings = await cli.write((client) => target.write(client, body), JSON.stringify(given));
  cli.show({ settings }, () => differences(cli, before, settings));
}

/** An object is replaced as a whole by the service: members that are not named keep their values. */
function completed(given: Body, before: Settings): Body {
  return Object.fromEntries(
    Object.entries(given).map(([key, value]) => {
      const stored = before[key as keyof Settings];
      return [key, isRecord(value) && isRecord(stored) ? { ...stored, ...value } : value];
    }),
  );
}

async function settingsOf(cli: Cli, whose: Whose) {
  atMostOne({ ...whose, app: cli.globals.app }, ['organization', 'project', 'app']);
  const { signal } = cli;
  if (whose.organization) {
    cli.requireSession();
    return {
      read: () => cli.client.settings.getOrganization({ signal }),
      write: (client: Cli['client'], body: Body) => client.settings.updateOrganization(body, { signal }),
    };
  }
  if (whose.project !== undefined) {
    const projectId = await projectNamed(cli, whose.project);
    return {
      read: () => cli.client.project(projectId).settings.get({ signal }),
      write: (client: Cli['client'], body: Body) =>
        client.project(projectId).settings.update(body, { signal }),
    };
  }
  const appId = await cli.appId();
  return {
    read: () => cli.client.settings.get(appId, { signal }),
    write: (client: Cli['client'], body: Body) => client.settings.update(appId, body, { signal }),
  };
}

const textOf = (value: unknown): string | null =>
  value === null ? null : typeof value === 'string' ? value : JSON.stringify(value);

function valueAt(settings: Settings, key: string): unknown {
  let value: unknown = settings;
  for (const [at, part] of pathOf(key).entries()) {
    if (at === 0 && !(part in settings)) {
      const close = nearest(part, Object.keys(settings));
      throw usage(
        `There is no setting ${JSON.stringify(part)}.${close ? ` Did you mean ${close}?` : ''}`,
        'headrace settings get',
      );
    }
    if (value === null) return null;
    if (!isRecord(value) || !(part in value))
      throw new Fault(EXIT.notFound, `There is no ${JSON.stringify(key)} in the settings.`, {
        hint: 'headrace settings get',
      });
    value = value[part];
  }
  return value;
}

function differences(cli: Cli, before: Settings, after: Settings): string {
  const lines = Object.entries(after).flatMap(([key, value]) => {
    const former = textOf(before[key as keyof Settings]);
    const now = textOf(value);
    if (former === now) return [];
    return [
      cli.paint('bold', key),
      cli.paint('red', `- ${shown(former ?? 'default')}`),
      cli.paint('green', `+ ${shown(now ?? 'default')}`),
    ];
  });
  return lines.length === 0 ? 'Nothing has changed.' : lines.join('\n');
}
