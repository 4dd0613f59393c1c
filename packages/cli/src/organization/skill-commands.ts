/** `headrace skills …`, as data. */
import { command } from '../core/command.ts';
import type { Command } from '../core/command.ts';
import { LIST_OPTIONS } from '../core/options.ts';

const NAME = 'for example release-notes';
const WHOSE = {
  organization: { type: 'boolean', help: 'the organization’s, which all its apps have' },
  project: { type: 'string', value: 'PROJECT', help: 'those of a Direct project: an id, or ~NAME' },
} as const;

export const skillCommands: readonly Command[] = [
  command({
    name: 'skills list',
    group: 'Organization',
    summary: 'List the skills of an app, a project or the organization',
    options: { ...WHOSE, ...LIST_OPTIONS },
    examples: ['headrace skills list --organization', "headrace skills list --app '~Shop'"],
    scope: 'app',
    answer: 'skills.listAppSkills',
    run: async (cli, { options }) => (await import('./skills.ts')).listSkills(cli, options),
  }),
  command({
    name: 'skills get',
    group: 'Organization',
    summary: 'Show a skill',
    args: ['NAME'],
    argHelp: { NAME },
    options: WHOSE,
    examples: ["headrace skills get release-notes --app '~Shop'"],
    scope: 'app',
    answer: 'skills.getAppSkill',
    run: async (cli, { args: [name], options }) => (await import('./skills.ts')).getSkill(cli, name, options),
  }),
  command({
    name: 'skills set',
    group: 'Organization',
    summary: 'Set a skill to the files of a folder',
    details:
      'The folder has a SKILL.md, whose front matter names the skill. Ignore files hold, as for a push. Agents of runs that begin from now on have it.',
    args: ['NAME', 'FOLDER'],
    argHelp: { NAME, FOLDER: 'with a SKILL.md; at most 200 files and 4 MiB' },
    argCompletes: { FOLDER: 'folder' },
    options: WHOSE,
    examples: [
      'headrace skills set release-notes skills/release-notes --organization',
      "headrace skills set release-notes skills/release-notes --app '~Shop'",
    ],
    scope: 'app',
    writes: true,
    answer: 'skills.setAppSkill',
    run: async (cli, { args: [name, folder], options }) =>
      (await import('./skills.ts')).setSkill(cli, { name, folder }, options),
  }),
  command({
    name: 'skills rm',
    group: 'Organization',
    summary: 'Delete a skill',
    args: ['NAME'],
    argHelp: { NAME },
    options: WHOSE,
    examples: ["headrace skills rm release-notes --app '~Shop' --yes"],
    scope: 'app',
    writes: true,
    answer: 'skills.deleteAppSkill',
    run: async (cli, { args: [name], options }) =>
      (await import('./skills.ts')).removeSkill(cli, name, options),
  }),
  command({
    name: 'skills pull',
    group: 'Organization',
    summary: 'Write the files of a skill to a folder',
    details:
      'Other files of the folder stay. With --json, the paths that were written and replaced are printed.',
    args: ['NAME', '[FOLDER]'],
    argHelp: { NAME, FOLDER: 'by default one of the skill’s name' },
    argCompletes: { FOLDER: 'folder' },
    options: { ...WHOSE, force: { type: 'boolean', help: 'replace files that differ' } },
    examples: ["headrace skills pull release-notes --app '~Shop'"],
    scope: 'app',
    run: async (cli, { args: [name, folder], options }) =>
      (await import('./skills.ts')).pullSkill(cli, { name, folder }, options),
  }),
];
