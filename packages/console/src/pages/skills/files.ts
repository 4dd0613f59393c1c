/** A skill's files on their way to the service, and `SKILL.md` on its way back. */
import type { SetAppSkillInput } from '@headrace/client';
import { contentOf } from '../apps/import/archive.ts';
import { base64Of } from '../thread/kept.ts';
import type { Picked } from '../apps/import/scan.ts';
import { SKILL_FILE } from './rules.ts';

type File = SetAppSkillInput['files'][number];

/** As the body of a write has them. As in an import, those that name their interpreter (`#!`) are executable. */
export const filesOf = (picked: readonly Picked[]): Promise<File[]> =>
  Promise.all(
    picked.map(async (one) => {
      const bytes = await contentOf(one);
      const executable = bytes[0] === 0x23 && bytes[1] === 0x21;
      return { path: one.path, ...(await encoded(bytes)), ...(executable && { executable }) };
    }),
  );

async function encoded(bytes: Uint8Array): Promise<Pick<File, 'content' | 'encoding'>> {
  try {
    return { content: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes) };
  } catch {
    return { content: await base64Of(new Blob([bytes.slice()])), encoding: 'base64' };
  }
}

const BLOCK = 512;

/** The text of `SKILL.md` in a tar.gz of the service; null where there is none. */
export async function skillText(archive: Uint8Array): Promise<string | null> {
  const packed = new Blob([archive.slice()]).stream().pipeThrough(new DecompressionStream('gzip'));
  const tar = new Uint8Array(await new Response(packed).arrayBuffer());
  const text = (from: number, to: number) => new TextDecoder().decode(tar.subarray(from, to)).split('\0')[0]!;
  for (let at = 0; at + BLOCK <= tar.length && tar[at] !== 0;) {
    const size = Number.parseInt(text(at + 124, at + 136), 8);
    const from = at + BLOCK;
    if (text(at, at + 100) === SKILL_FILE) return text(from, from + size);
    at = from + Math.ceil(size / BLOCK) * BLOCK;
  }
  return null;
}
