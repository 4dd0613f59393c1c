/** A folder as files of an import, and the SHA-256 that the service must report for them. */
import { createHash } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import type { ImportSourceInput } from './generated/types.ts';

type FileInput = Extract<ImportSourceInput, { files: unknown }>['files'][number];

/**
 * Every regular file below `folder`, by path: text as UTF-8, everything else as base64. Skips `.git` and
 * `node_modules`.
 */
export async function readFolder(folder: string): Promise<FileInput[]> {
  const files: FileInput[] = [];
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const full = join(entry.parentPath, entry.name);
    const path = relative(folder, full).split(sep);
    if (!entry.isFile() || path.some((part) => part === '.git' || part === 'node_modules')) continue;
    const [bytes, { mode }] = await Promise.all([readFile(full), stat(full)]);
    files.push({ path: path.join('/'), ...contentOf(bytes), executable: (mode & 0o100) !== 0 });
  }
  return files.sort((a, b) => Buffer.compare(Buffer.from(a.path), Buffer.from(b.path)));
}

function contentOf(bytes: Buffer): Pick<FileInput, 'content' | 'encoding'> {
  const content = bytes.toString('utf8');
  return Buffer.from(content).equals(bytes)
    ? { content, encoding: 'utf8' }
    : { content: bytes.toString('base64'), encoding: 'base64' };
}

/** `source.sha256` of these files, computed here to check that the service stored what was sent. */
export function sourceSha256(files: readonly FileInput[]): string {
  const lines = files.map(({ path, content, encoding = 'utf8', executable = false }) => {
    const bytes = Buffer.from(content, encoding);
    return {
      path: Buffer.from(path),
      line: `${executable ? '0755' : '0644'} ${createHash('sha256').update(bytes).digest('hex')} ${bytes.length} ${path}\n`,
    };
  });
  lines.sort((a, b) => Buffer.compare(a.path, b.path));
  return createHash('sha256')
    .update(lines.map((l) => l.line).join(''))
    .digest('hex');
}
