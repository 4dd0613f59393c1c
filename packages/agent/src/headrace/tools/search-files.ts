import { readFileSync, statSync } from 'node:fs';
import { matchesGlob, resolve } from 'node:path';
import type { ToolResult } from './tool.ts';
import { walk } from './walk.ts';

export interface SearchRequest {
  root: string;
  path: string;
  pattern: string;
  glob: string;
  ignoreCase: boolean;
}

const MATCHES = 300,
  VISITED = 200_000,
  FILE_BYTES = 2 * 1024 ** 2,
  LINE_CHARACTERS = 300,
  SNIFFED_BYTES = 8000;

/** What the program does in a search thread. */
export async function answerSearch(): Promise<void> {
  const { parentPort, workerData } = await import('node:worker_threads');
  parentPort!.postMessage(searchFiles(workerData as SearchRequest), []);
}

function searchFiles({ root, path, pattern, glob, ignoreCase }: SearchRequest): ToolResult {
  const expression = new RegExp(pattern, ignoreCase ? 'i' : '');
  const top = resolve(root, path);
  const stat = statSync(top, { throwIfNoEntry: false });
  if (!stat) return { text: `${path}: no such file or folder`, isError: true };
  const shown: string[] = [];
  const files = stat.isFile() ? [''] : walk(top, { limit: VISITED });
  for (const found of files) {
    const below = typeof found === 'string' ? '' : found.path;
    if (
      typeof found !== 'string' &&
      (found.isFolder || (glob !== '' && !matchesGlob(below, glob) && !matchesGlob(below, `**/${glob}`)))
    )
      continue;
    const name = below === '' ? path : path === '.' ? below : `${path}/${below}`;
    for (const line of matchesIn(resolve(top, below), expression)) {
      if (shown.length === MATCHES)
        return {
          text: `${shown.join('\n')}\n[there are more than ${MATCHES} matches: narrow the pattern, the path or the glob]`,
          isCut: true,
        };
      shown.push(`${name}:${line}`);
    }
  }
  return { text: shown.length === 0 ? 'No line matches.' : shown.join('\n') };
}

function* matchesIn(file: string, expression: RegExp): Generator<string> {
  const stat = statSync(file, { throwIfNoEntry: false });
  if (!stat?.isFile() || stat.size > FILE_BYTES) return;
  let bytes: Buffer;
  try {
    bytes = readFileSync(file);
  } catch {
    return;
  }
  if (bytes.subarray(0, SNIFFED_BYTES).includes(0)) return;
  for (const [i, line] of bytes.toString().split('\n').entries()) {
    if (expression.test(line))
      yield `${i + 1}: ${line.length > LINE_CHARACTERS ? `${line.slice(0, LINE_CHARACTERS)}…` : line.replace(/\r$/, '')}`;
  }
}
