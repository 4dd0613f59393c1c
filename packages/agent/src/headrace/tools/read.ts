import { readFileSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { imageTypeOf } from './image-type.ts';
import { numberOf, textOf } from './schema.ts';
import type { Tool, ToolResult } from './tool.ts';
import { workspacePath } from './workspace-path.ts';

const LINES = 2000,
  LINE_CHARACTERS = 2000,
  CHARACTERS = 40_000;
const FILE_BYTES = 16 * 1024 ** 2,
  IMAGE_BYTES = 3.5 * 1024 ** 2,
  SNIFFED_BYTES = 8000;

export const read: Tool = {
  name: 'read',
  description:
    'Reads a file. Text comes with line numbers and a tab before each line (they are not part of the ' +
    `file), at most ${LINES} lines at once; use offset and limit for more. Images (PNG, JPEG, GIF, WebP) ` +
    'are shown to you.',
  schema: {
    type: 'object',
    required: ['path'],
    additionalProperties: false,
    properties: {
      path: { type: 'string', description: 'Path relative to the workspace.' },
      offset: { type: 'integer', minimum: 1, description: 'First line to read, from 1.' },
      limit: { type: 'integer', minimum: 1, maximum: LINES, description: 'Number of lines.' },
    },
  },
  kind: 'read',
  hasEffects: false,
  title: (input) => `Read ${textOf(input, 'path')}`,
  run(input, { root }) {
    const path = workspacePath(root, textOf(input, 'path'));
    const file = resolve(root, path);
    const stat = statSync(file, { throwIfNoEntry: false });
    if (!stat) throw new Error(`${path}: no such file`);
    if (stat.isDirectory()) throw new Error(`${path} is a folder: use list`);
    if (!stat.isFile()) throw new Error(`${path}: not a regular file`);
    if (stat.size > FILE_BYTES)
      throw new Error(
        `${path} has ${stat.size} bytes, too many to read: use search, or bash with sed, head or tail`,
      );
    return show(path, readFileSync(file), numberOf(input, 'offset', 1), numberOf(input, 'limit', LINES));
  },
};

function show(path: string, bytes: Buffer, offset: number, limit: number): ToolResult {
  const mediaType = imageTypeOf(bytes);
  if (mediaType !== undefined) {
    if (bytes.length > IMAGE_BYTES)
      return { text: `${path} is an image (${mediaType}) of ${bytes.length} bytes, too large to be shown.` };
    return {
      text: `${path} is an image (${mediaType}, ${bytes.length} bytes); it is shown to you in the next message.`,
      images: [{ mediaType, data: bytes.toString('base64') }],
    };
  }
  if (bytes.subarray(0, SNIFFED_BYTES).includes(0))
    return { text: `${path} is a binary file of ${bytes.length} bytes; it is not shown.` };
  if (bytes.length === 0) return { text: `${path} is empty.` };
  const lines = bytes.toString().split('\n');
  if (lines.at(-1) === '') lines.pop();
  if (offset > lines.length) throw new Error(`${path} has ${lines.length} lines only`);
  return numbered(lines, offset, limit);
}

function numbered(lines: string[], offset: number, limit: number): ToolResult {
  const out: string[] = [];
  let size = 0,
    at = offset - 1;
  for (; at < lines.length && out.length < limit && size < CHARACTERS; at++) {
    const line = lines[at]!;
    const more = line.length - LINE_CHARACTERS;
    const shown = more > 0 ? `${line.slice(0, LINE_CHARACTERS)}[… ${more} more characters]` : line;
    out.push(`${String(at + 1).padStart(5)}\t${shown}`);
    size += out.at(-1)!.length + 1;
  }
  const isCut = at < lines.length;
  if (isCut) out.push(`[lines ${offset}-${at} of ${lines.length}; go on with offset ${at + 1}]`);
  return { text: out.join('\n'), isCut };
}
