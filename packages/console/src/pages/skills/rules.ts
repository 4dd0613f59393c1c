/** What the service would refuse of a skill, seen before it is sent. */
import { bytes, count } from '../../ui/values.tsx';

export const SKILL_FILE = 'SKILL.md';
const NAME = /^(?=.{1,64}$)[a-z0-9]+(-[a-z0-9]+)*$/;
const FILES = 200;
const BYTES = 4 * 1024 * 1024;

export const nameFault = (name: string): string | null =>
  NAME.test(name) ? null : '1 to 64 of a-z and 0-9, in words that single hyphens join.';

export function filesFault(files: readonly { path: string }[], byteSize: number): string | null {
  if (!files.some(({ path }) => path === SKILL_FILE)) return `A skill has a ${SKILL_FILE} at its top.`;
  if (files.length > FILES)
    return `A skill has at most ${FILES} files, and these are ${count(files.length)}.`;
  if (byteSize > BYTES) return `A skill has at most 4 MiB, and these are ${bytes(byteSize)}.`;
  return null;
}

/** The name that the front matter of a `SKILL.md` gives; null where it has none of the right form. */
export function nameIn(text: string): string | null {
  const front = /^---[ \t]*\r?\n(?<yaml>[\s\S]*?)\n---/.exec(text)?.groups!['yaml'];
  const name = /^name:[ \t]*(["']?)(?<name>[a-z0-9-]+)\1[ \t]*\r?$/m.exec(front ?? '')?.groups!['name'];
  return name !== undefined && nameFault(name) === null ? name : null;
}
