/** The change of an app or a project by the command line. */
import type { App, Project, UpdateAppInput, UpdateProjectInput } from '@headrace/client';
import { quoted } from '../../ui/quoted.ts';

export type Change = UpdateAppInput & UpdateProjectInput;

export function commandOf(of: App | Project, change: Change): string {
  return 'kind' in of ? commandOfProject(of, change) : commandOfApp(of, change);
}

/** Its metadata is changed name by name. */
function commandOfApp({ id, metadata: before }: App, { name, externalId, metadata }: Change): string {
  const removed = metadata ? Object.keys(before).filter((key) => !(key in metadata)) : [];
  const set = Object.entries(metadata ?? {}).filter(([key, value]) => before[key] !== value);
  return [
    `headrace apps update ${id}`,
    ...(name === undefined ? [] : [`--name ${quoted(name)}`]),
    ...(externalId === undefined
      ? []
      : externalId === null
        ? ['--no-external-id']
        : [`--external-id ${quoted(externalId)}`]),
    ...set.map(([key, value]) => `--metadata ${quoted(`${key}=${value}`)}`),
    ...removed.map((key) => `--no-metadata ${quoted(key)}`),
  ].join(' ');
}

/** Its command takes neither all metadata away nor the branch, and reads a value with `@` as a file. */
function commandOfProject({ id }: Project, change: Change): string {
  const { name, defaultBranch, metadata } = change;
  if (metadata !== undefined || defaultBranch === null)
    return `echo ${quoted(JSON.stringify(change))} | headrace api PATCH /api/projects/${id} --input -`;
  return [
    `headrace projects update ${id}`,
    ...(name === undefined ? [] : [`--name ${quoted(name)}`]),
    ...(defaultBranch === undefined ? [] : [`--branch ${quoted(defaultBranch)}`]),
  ].join(' ');
}
