/** An app's files to measure with: text like source code, the same at every run. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { pack } from 'tar-stream';
import { mulberry32 } from './random.ts';

export interface AppFile {
  path: string;
  content: string;
}

const WORDS =
  'const return import export function await async string number boolean null undefined interface type if else for of value index path name file source thread head draft apply merge event cursor stream build test expect the with from'.split(
    ' ',
  );

/** `count` files in folders of 50, `bytes` in all. */
export function makeFiles(count: number, bytes: number): AppFile[] {
  const random = mulberry32(20_260_101);
  const each = Math.floor(bytes / count);
  return Array.from({ length: count }, (_, i) => ({
    path: `src/area-${Math.floor(i / 500)}/part-${Math.floor(i / 50)}/file-${i}.ts`,
    content: textOf(each, random),
  }));
}

/** Lines of words and numbers; zlib takes them to about a third, as it does with source code. */
function textOf(length: number, random: () => number): string {
  let text = '';
  while (text.length < length) {
    const words = Array.from({ length: 4 + Math.floor(random() * 8) }, () =>
      random() < 0.25
        ? Math.floor(random() * 2 ** 32).toString(36)
        : WORDS[Math.floor(random() * WORDS.length)]!,
    );
    text += `${'  '.repeat(Math.floor(random() * 3))}${words.join(' ')};\n`;
  }
  return `${text.slice(0, length - 1)}\n`;
}

export function writeFiles(folder: string, files: readonly AppFile[]): void {
  for (const { path, content } of files) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
}

export async function tarGz(
  files: readonly { path: string; content: string | Buffer; executable?: boolean }[],
): Promise<Buffer> {
  const tar = pack();
  for (const { path, content, executable } of files)
    tar.entry({ name: path, mode: executable ? 0o755 : 0o644 }, content);
  tar.finalize();
  const parts: Buffer[] = [];
  for await (const part of tar) parts.push(part as Buffer);
  return gzipSync(Buffer.concat(parts));
}
