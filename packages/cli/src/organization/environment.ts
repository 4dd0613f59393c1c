/** `headrace env …`: environment variables and secrets of an app, a project or the organization. */
import type { SetAppVariableInput, Variable } from '@headrace/client';
import { parseEnvFile } from '@headrace/client/files';
import type { Cli } from '../core/cli.ts';
import { EXIT } from '../core/exit.ts';
import { Fault, usage } from '../core/fault.ts';
import { atMostOne, readText } from '../core/input.ts';
import { oneLine, shown } from '../terminal/escape.ts';
import type { Column } from '../terminal/table.ts';
import { ago } from '../terminal/times.ts';
import { ownerOf } from './whose.ts';
import type { Whose } from './whose.ts';

interface Fields extends Whose {
  secret: boolean;
  for: NonNullable<SetAppVariableInput['targets']>;
}
type Client = Cli['client'];

const COLUMNS: readonly Column<Variable>[] = [
  { header: 'NAME', value: ({ name }) => name, whole: true, color: () => 'bold' },
  { header: 'VALUE', value: ({ value, secret }) => value ?? (secret ? '(secret)' : '(cannot be decrypted)') },
  { header: 'FOR', value: ({ targets }) => targets.join(' ') },
  { header: 'LEVEL', value: ({ level }) => level },
  { header: 'CHANGED', value: ({ updatedAt }) => ago(updatedAt) },
];

export async function listVariables(
  cli: Cli,
  { effective, limit, ...whose }: Whose & { effective: boolean; limit: number | undefined },
): Promise<void> {
  if (effective) atMostOne({ effective, organization: whose.organization }, ['effective', 'organization']);
  const level = await levelOf(cli, whose);
  await cli.list({
    member: 'variables',
    page: (options) => level.list({ ...options, ...(effective && { effective }) }),
    columns: COLUMNS,
    empty: 'There are no variables yet. → headrace env set NAME VALUE',
    limit,
  });
}

export async function getVariable(cli: Cli, name: string, whose: Whose): Promise<void> {
  const variable = await (await levelOf(cli, whose)).get(name);
  if (!cli.isJson && variable.value === null)
    throw new Fault(
      EXIT.denied,
      variable.secret
        ? `${oneLine(name)} is a secret, which is never shown.`
        : `The value of ${oneLine(name)} cannot be decrypted. Set it again.`,
    );
  cli.show({ variable }, () => shown(variable.value ?? ''));
}

export async function setVariable(
  cli: Cli,
  { name, value: given }: { name: string; value: string | undefined },
  fields: Fields,
): Promise<void> {
  if (fields.secret && given !== undefined)
    throw usage('A secret cannot be given as an argument: other users see command lines. Give it on stdin.');
  const level = await levelOf(cli, fields);
  const value = given ?? (await readValue(cli, name));
  // The receipt's key must not depend on a secret, not even on its hash.
  const variable = await cli.write((client) => level.set(client, name, { value, ...fieldsOf(fields) }));
  cli.show({ variable }, () => `${oneLine(variable.name)} is set for ${variable.targets.join(', ')}.`);
}

export async function removeVariable(cli: Cli, name: string, whose: Whose): Promise<void> {
  const level = await levelOf(cli, whose);
  await cli.requireYes(() => `Delete the variable ${oneLine(name)}? New sandboxes will not have it.`);
  const variable = await cli.write((client) => level.remove(client, name));
  cli.show({ variable }, () => `Deleted ${oneLine(variable.name)}.`);
}

export async function importVariables(cli: Cli, file: string, fields: Fields): Promise<void> {
  const level = await levelOf(cli, fields);
  // A level has at most 100.
  const before = await level.list({ limit: 200, signal: cli.signal });
  const known = new Set(before.items.map(({ name }) => name));
  const values = [...parseEnvFile(await readText(cli, file))];
  if (values.length === 0) throw usage(`${file} has no line NAME=VALUE.`);
  const names = values.map(([name]) => name).join(' ');
  const variables: Variable[] = [];
  const said = () =>
    variables.map(({ name }) => `${oneLine(name)} is ${known.has(name) ? 'replaced' : 'new'}.`).join('\n');
  try {
    await cli.write(async (client) => {
      for (const [name, value] of values)
        variables.push(await level.set(client, name, { value, ...fieldsOf(fields) }));
    }, names);
  } catch (error) {
    const failed = values[variables.length]?.[0] ?? '';
    cli.say(
      [said(), `${oneLine(failed)} was refused or has no answer; none after it was set.`].join('\n').trim(),
    );
    throw error;
  }
  cli.show({ variables }, said);
}

const fieldsOf = ({ secret, for: targets }: Fields) => ({
  ...(secret && { secret }),
  ...(targets.length > 0 && { targets }),
});

/** Asked for without being shown on a terminal, else the text of stdin without the end of its last line. */
async function readValue(cli: Cli, name: string): Promise<string> {
  if (cli.io.stdin.isTTY) return cli.secret(`The value of ${oneLine(name)}:`, 'the value on stdin');
  return (await readText(cli, '-')).replace(/\r?\n$/, '');
}

/** Reads and writes of the app's, the project's or the organization's variables. */
async function levelOf(cli: Cli, whose: Whose) {
  const owner = await ownerOf(cli, whose);
  const { signal } = cli;
  if (!owner)
    return {
      list: (options: Parameters<Client['environment']['listOrganization']>[0]) =>
        cli.client.environment.listOrganization(options),
      get: (name: string) => cli.client.environment.getOrganization(name, { signal }),
      set: (client: Client, name: string, body: SetAppVariableInput) =>
        client.environment.setOrganization(name, body, { signal }),
      remove: (client: Client, name: string) => client.environment.deleteOrganization(name, { signal }),
    };
  const of = (client: Client) => owner(client).environment;
  return {
    list: (options: Parameters<ReturnType<typeof of>['list']>[0]) => of(cli.client).list(options),
    get: (name: string) => of(cli.client).get(name, { signal }),
    set: (client: Client, name: string, body: SetAppVariableInput) => of(client).set(name, body, { signal }),
    remove: (client: Client, name: string) => of(client).delete(name, { signal }),
  };
}
