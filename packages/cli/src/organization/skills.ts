/** `headrace skills …`: skills of an app, a project or the organization. */
import { resolve } from 'node:path';
import type { SetAppSkillInput, Skill } from '@headrace/client';
import { ChangedFilesError, extract, readFolder } from '@headrace/client/node';
import type { Cli } from '../core/cli.ts';
import { EXIT } from '../core/exit.ts';
import { Fault } from '../core/fault.ts';
import { folderFault, requireFolder } from '../source/folder.ts';
import { countOf } from '../terminal/count.ts';
import { oneLine } from '../terminal/escape.ts';
import type { Column } from '../terminal/table.ts';
import { ago, bytes } from '../terminal/times.ts';
import { ownerOf } from './whose.ts';
import type { Whose } from './whose.ts';

type Client = Cli['client'];

const COLUMNS: readonly Column<Skill>[] = [
  { header: 'NAME', value: ({ name }) => name, whole: true, color: () => 'bold' },
  { header: 'DESCRIPTION', value: ({ description }) => oneLine(description) },
  { header: 'FILES', value: ({ fileCount }) => String(fileCount) },
  { header: 'SIZE', value: ({ byteSize }) => bytes(byteSize) },
  { header: 'LEVEL', value: ({ level }) => level },
  { header: 'CHANGED', value: ({ updatedAt }) => ago(updatedAt) },
];

export async function listSkills(
  cli: Cli,
  { limit, ...whose }: Whose & { limit: number | undefined },
): Promise<void> {
  const level = await levelOf(cli, whose);
  await cli.list({
    member: 'skills',
    page: (options) => level.list(options),
    columns: COLUMNS,
    empty: 'There are no skills yet. → headrace skills set NAME FOLDER',
    limit,
  });
}

export async function getSkill(cli: Cli, name: string, whose: Whose): Promise<void> {
  const skill = await (await levelOf(cli, whose)).get(name);
  cli.show({ skill }, () =>
    cli.details([
      ['Skill', `${skill.id} ${oneLine(skill.name)}`],
      ['Description', oneLine(skill.description)],
      ['Level', skill.level],
      ['Files', `${skill.fileCount}, ${bytes(skill.byteSize)}`],
      ['SHA-256', skill.sha256],
      ['Changed', ago(skill.updatedAt)],
    ]),
  );
}

export async function setSkill(
  cli: Cli,
  { name, folder: given }: { name: string; folder: string },
  whose: Whose,
): Promise<void> {
  const folder = resolve(cli.io.cwd, given);
  requireFolder(folder, `skills set ${oneLine(name)}`);
  const level = await levelOf(cli, whose);
  const { files, skipped } = await readFolder(folder, { signal: cli.signal }).catch((error: unknown) => {
    throw folderFault(error, folder);
  });
  // The same files, sent again, have one effect.
  const skill = await cli.write((client) => level.set(client, name, { files }), JSON.stringify(files));
  for (const { path, reason } of skipped)
    cli.say(cli.paintTalk('dim', `Skipped ${oneLine(path)} (${reason})`));
  cli.show({ skill }, () => `${oneLine(skill.name)} is set: ${countOf(skill.fileCount, 'file')}.`);
}

export async function removeSkill(cli: Cli, name: string, whose: Whose): Promise<void> {
  const level = await levelOf(cli, whose);
  await cli.requireYes(
    () => `Delete the skill ${oneLine(name)}? Runs that begin from now on will not have it.`,
  );
  const skill = await cli.write((client) => level.remove(client, name));
  cli.show({ skill }, () => `Deleted ${oneLine(skill.name)}.`);
}

export async function pullSkill(
  cli: Cli,
  { name, folder: given = name }: { name: string; folder: string | undefined },
  { force, ...whose }: Whose & { force: boolean },
): Promise<void> {
  const level = await levelOf(cli, whose);
  const archive = await level.archive(name);
  const folder = resolve(cli.io.cwd, given);
  const installed = await extract(archive, folder, { force, signal: cli.signal }).catch((error: unknown) => {
    throw error instanceof ChangedFilesError
      ? new Fault(EXIT.conflict, `Nothing was written: ${oneLine(error.message)}`, {
          hint: '--force replaces them',
          code: 'folder_changed',
        })
      : folderFault(error, folder);
  });
  cli.show(
    { ...installed },
    () => `Wrote ${countOf(installed.written.length, 'file')} to ${oneLine(given)}.`,
  );
}

/** Reads and writes of the app's, the project's or the organization's skills. */
async function levelOf(cli: Cli, whose: Whose) {
  const owner = await ownerOf(cli, whose);
  const { signal } = cli;
  if (!owner)
    return {
      list: (options: Parameters<Client['skills']['listOrganization']>[0]) =>
        cli.client.skills.listOrganization(options),
      get: (name: string) => cli.client.skills.getOrganization(name, { signal }),
      archive: (name: string) => cli.client.skills.organizationArchive(name, { signal }),
      set: (client: Client, name: string, body: SetAppSkillInput) =>
        client.skills.setOrganization(name, body, { signal }),
      remove: (client: Client, name: string) => client.skills.deleteOrganization(name, { signal }),
    };
  const of = (client: Client) => owner(client).skills;
  return {
    list: (options: Parameters<ReturnType<typeof of>['list']>[0]) => of(cli.client).list(options),
    get: (name: string) => of(cli.client).get(name, { signal }),
    archive: (name: string) => of(cli.client).archive(name, { signal }),
    set: (client: Client, name: string, body: SetAppSkillInput) => of(client).set(name, body, { signal }),
    remove: (client: Client, name: string) => of(client).delete(name, { signal }),
  };
}
