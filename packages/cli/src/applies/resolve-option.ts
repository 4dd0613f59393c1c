/** `--resolve PATH=head|draft|FILE`, and the command line that would decide what is open. */
import { isUtf8 } from 'node:buffer';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { compactResolutions, MAX_RESOLUTIONS } from '@headrace/client';
import type { Cli } from '../core/cli.ts';
import { usage } from '../core/fault.ts';
import { quoted } from '../core/shell-text.ts';
import { oneLine } from '../terminal/escape.ts';
import type { Conflict, Decision, Decisions, Plan } from './decisions.ts';

export interface Given {
  /** With a slash at its end: all conflicts below it. */
  path: string;
  decision: Decision;
}

/** The path ends at the last `=`. Throws the Fault of a wrong option. */
export function givenDecisions(cli: Cli, texts: readonly string[]): Given[] {
  const seen = new Set<string>();
  return texts.map((text) => {
    const at = text.lastIndexOf('=');
    const [path, side] = [text.slice(0, at), text.slice(at + 1)];
    if (at < 1 || side === '')
      throw usage(`--resolve is PATH=head, PATH=draft or PATH=FILE, not ${JSON.stringify(text)}.`);
    if (seen.has(path)) throw usage(`--resolve decides ${JSON.stringify(path)} twice.`);
    seen.add(path);
    if (side === 'head' || side === 'draft') return { path, decision: { take: side } };
    if (path.endsWith('/'))
      throw usage(`A folder takes head or draft, not a file: --resolve ${oneLine(text)}`);
    return { path, decision: ownOf(cli, side) };
  });
}

function ownOf(cli: Cli, name: string): Decision {
  let bytes: Buffer;
  try {
    bytes = readFileSync(resolve(cli.io.cwd, name));
  } catch (error) {
    throw usage(
      `--resolve: ${oneLine(name)} is neither head nor draft, nor a file that can be read: ${(error as Error).message}`,
    );
  }
  const encoding = isUtf8(bytes) ? 'utf8' : 'base64';
  return { own: { content: bytes.toString(encoding), encoding, from: 'a file' } };
}

export const covers = (pattern: string, path: string): boolean =>
  pattern.endsWith('/') ? path.startsWith(pattern) : path === pattern;

/** Those that are about no conflict. */
export const idleOf = (conflicts: readonly Conflict[], given: readonly Given[]): Given[] =>
  given.filter(({ path: pattern }) => !conflicts.some(({ path }) => covers(pattern, path)));

export function requireConflicts(conflicts: readonly Conflict[], given: readonly Given[]): void {
  const [idle] = idleOf(conflicts, given);
  if (!idle) return;
  const some = conflicts.slice(0, 5).map(({ path }) => oneLine(path));
  throw usage(
    `--resolve: ${JSON.stringify(idle.path)} is not in conflict.`,
    some.length > 0 ? `In conflict: ${some.join(', ')}${conflicts.length > 5 ? ', …' : ''}` : undefined,
  );
}

/** The exact path wins, then the longest folder, as in the service. */
export function decisionsOf(conflicts: readonly Conflict[], given: readonly Given[]): Decisions {
  const longest = given.toSorted((a, b) => b.path.length - a.path.length);
  return new Map(
    conflicts.flatMap(({ path }) => {
      const found = longest.find((one) => covers(one.path, path));
      return found ? [[path, found.decision] as const] : [];
    }),
  );
}

// What is sent.

type Resolutions = Plan['resolutions'];

/** As they are, or, if they are too many for one apply, with folders for conflicts that mostly take one side. */
export function compacted(conflicts: readonly Conflict[], resolutions: Resolutions): Resolutions {
  if (resolutions.length <= MAX_RESOLUTIONS) return resolutions;
  const paths = conflicts.map(({ path }) => path);
  const few = compactResolutions(paths, resolutions);
  if (few.length > MAX_RESOLUTIONS)
    throw usage(
      `${few.length} decisions are more than the ${MAX_RESOLUTIONS} that one apply takes.`,
      'Decide whole folders: --resolve FOLDER/=head, or take files of the head into the draft first.',
    );
  return few;
}

// What would decide the rest.

const SHOWN_PATHS = 10;

/** `command` with options that decide the rest: `head` may be replaced by `draft` at each path. */
export function resolveLine(command: string, given: readonly string[], open: readonly Conflict[]): string {
  const names = open.length > SHOWN_PATHS ? topsOf(open) : open.map(({ path }) => path);
  const options = [...given, ...names.map((name) => `${name}=head`)].map(
    (text) => `--resolve${text.startsWith('-') ? '=' : ' '}${word(text)}`,
  );
  return [command, ...options, '--yes'].join(' ');
}

const topsOf = (open: readonly Conflict[]): string[] => [
  ...new Set(open.map(({ path }) => path.replace(/\/.*$/su, '/'))),
];

/** For a shell. Characters that a terminal would not show are written by their codes. */
function word(text: string): string {
  if (oneLine(text) === text) return quoted(text);
  const escaped = Array.from(text, (character) =>
    oneLine(`.${character}.`) === `.${character}.` && !`'\\`.includes(character)
      ? character
      : [...Buffer.from(character)].map((byte) => `\\x${byte.toString(16).padStart(2, '0')}`).join(''),
  );
  return `$'${escaped.join('')}'`;
}
