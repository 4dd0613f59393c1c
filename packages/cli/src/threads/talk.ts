/** The text that a person sends: from the command line, stdin, or the editor. */
import { readFileSync } from 'node:fs';
import { basename, extname, resolve } from 'node:path';
import type { SendMessageInput } from '@headrace/client';
import type { Cli } from '../core/cli.ts';
import { usage } from '../core/fault.ts';
import { readText } from '../core/input.ts';
import { editText } from '../terminal/editor.ts';

/** `-` is stdin. Without a text, the editor asks for one. */
export async function messageText(cli: Cli, given: string | undefined): Promise<string> {
  const text = given === '-' ? await readText(cli, '-') : (given ?? (await written(cli)));
  if (text.trim() === '') throw usage('The message is empty: nothing was sent.');
  return text;
}

async function written(cli: Cli): Promise<string> {
  if (!cli.canAsk) throw usage('What is the message? Give it as an argument, or - for stdin.');
  const text = await editText(cli, { name: 'message.md', text: '' });
  if (text === null) throw usage('The message was not saved: nothing was sent.');
  return text;
}

type Attachments = NonNullable<SendMessageInput['attachments']>;

/** By the names that browsers use; the service takes any type. */
const MEDIA_TYPES: Readonly<Record<string, string>> = {
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.gif': 'image/gif',
  '.webp': 'image/webp',
  '.svg': 'image/svg+xml',
  '.pdf': 'application/pdf',
  '.json': 'application/json',
  '.html': 'text/html',
  '.css': 'text/css',
  '.csv': 'text/csv',
  '.md': 'text/markdown',
  '.txt': 'text/plain',
  '.log': 'text/plain',
};
const MOST = 10;

export function attachmentsOf(cli: Cli, files: readonly string[]): Attachments {
  if (files.length > MOST) throw usage(`A message takes at most ${MOST} attachments, not ${files.length}.`);
  return files.map((file) => {
    try {
      const data = readFileSync(resolve(cli.io.cwd, file)).toString('base64');
      const mediaType = MEDIA_TYPES[extname(basename(file)).toLowerCase()] ?? 'application/octet-stream';
      return { mediaType, data };
    } catch (error) {
      throw usage(`${file} cannot be read: ${(error as Error).message}`);
    }
  });
}
