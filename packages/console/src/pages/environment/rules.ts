/** What the service would refuse of a variable, seen before it is sent. */
import type { Variable } from '@headrace/client';

export const TARGETS = ['run', 'exec', 'build', 'preview'] as const;
export type Target = (typeof TARGETS)[number];

const NAME = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;
const TAKEN =
  /^(HEADRACE_.*|LD_.*|.*_[Pp][Rr][Oo][Xx][Yy]|PATH|HOME|USER|LOGNAME|SHELL|PWD|TMPDIR|ENV|BASH_ENV)$/;
const VALUE_BYTES = 32_768;
const SECRET_CHARACTERS = 8;
const LEVEL_VARIABLES = 100;
const LEVEL_BYTES = 65_536;

const sizeOf = (text: string) => new TextEncoder().encode(text).length;

export function nameFault(name: string): string | null {
  if (!NAME.test(name)) return 'Up to 128 of A-Z, a-z, 0-9 and _, and no digit at the start.';
  if (TAKEN.test(name)) return 'The sandbox sets this name, or no variable may have it.';
  return null;
}

export function valueFault(value: string, isSecret: boolean): string | null {
  if (isSecret && [...value].length < SECRET_CHARACTERS)
    return `A secret has at least ${SECRET_CHARACTERS} characters: shorter ones would be masked in any text.`;
  if (sizeOf(value) > VALUE_BYTES) return 'At most 32 KiB.';
  return null;
}

/** Whether a level, whose secrets' sizes nobody is told, has room for these beside its own. */
export function roomFault(
  own: readonly Variable[],
  added: readonly { name: string; value: string }[],
): string | null {
  const after = new Map(own.map(({ name, value }) => [name, value ?? '']));
  for (const { name, value } of added) after.set(name, value);
  if (after.size > LEVEL_VARIABLES) return `At most ${LEVEL_VARIABLES} variables: delete one first.`;
  let bytes = 0;
  for (const [name, value] of after) bytes += sizeOf(name) + sizeOf(value);
  return bytes > LEVEL_BYTES ? 'At most 64 KiB of names and values together.' : null;
}

/** Whether a name promises a secret. */
export const looksSecret = (name: string): boolean =>
  /SECRET|TOKEN|PASSW|PASSPHRASE|CREDENTIAL|PRIVATE|KEY$/i.test(name);

/** Those of a new variable: where agents could read it, a secret is not by itself. */
export const usualTargets = (isSecret: boolean): Target[] =>
  TARGETS.filter((target) => !isSecret || target !== 'run');
