/** The setting `setup` as a form. */
import type { SettingsSetup } from '@headrace/client';

/** `kind`: '' where the level has none of its own, `none` where it has no setup whatever the organization says. */
export interface SetupDraft {
  kind: string;
  command: string;
  /** One in a line. */
  paths: string;
  seconds: string;
}

export type SetupWrong = Partial<Record<'command' | 'paths' | 'seconds', string>>;

/** The lines of a field that mean something. */
export const linesOf = (value: string): string[] =>
  value
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);

export function setupDraftOf(setup: SettingsSetup | null): SetupDraft {
  const { command = null, paths = [], timeoutSeconds } = setup ?? {};
  return {
    kind: setup === null ? '' : command === null ? 'none' : 'own',
    command: command ?? '',
    paths: paths.join('\n'),
    seconds: String(timeoutSeconds ?? ''),
  };
}

/** What the form says. None has paths, too: the service wants them, so that they are there for the next command. */
export function setupOf({ kind, command, paths, seconds }: SetupDraft): SettingsSetup | null {
  if (kind === '') return null;
  const lines = linesOf(paths);
  const isNone = kind === 'none';
  return {
    command: isNone ? null : command,
    paths: isNone && lines.length === 0 ? ['.'] : lines,
    ...(/^\d+$/.test(seconds.trim()) && { timeoutSeconds: Number(seconds) }),
  };
}

/** Faults that need no service to be seen. */
export function wrongInSetup({ kind, command, paths, seconds }: SetupDraft): SetupWrong {
  if (kind !== 'own') return {};
  const typed = seconds.trim();
  const isTimeRight = typed === '' || (/^\d+$/.test(typed) && Number(typed) >= 1 && Number(typed) <= 600);
  const count = linesOf(paths).length;
  return {
    ...(command.trim() === '' && { command: 'Say what to run.' }),
    ...(count === 0 && { paths: 'Name a file or a folder, or . for all files.' }),
    ...(count > 50 && { paths: 'At most 50.' }),
    ...(!isTimeRight && { seconds: 'A whole number from 1 to 600, or nothing.' }),
  };
}
