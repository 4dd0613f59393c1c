/** `headrace edit`: one file of a thread, in the editor or from a file, saved as an edit. */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { isCode } from '@headrace/client';
import type { CreateEditInput, SourceFileContent } from '@headrace/client';
import type { Cli } from '../core/cli.ts';
import { EXIT } from '../core/exit.ts';
import { Fault, usage } from '../core/fault.ts';
import { atMostOne, readBytes } from '../core/input.ts';
import { editText } from '../terminal/editor.ts';
import { oneLine } from '../terminal/escape.ts';
import { threadPlace, withApp } from './place.ts';
import type { Place } from './place.ts';
import { afterChange } from './run-end.ts';

interface EditOptions {
  file: string | undefined;
  delete: boolean;
  message: string | undefined;
}
type Change = CreateEditInput['changes'][number];

export async function edit(
  cli: Cli,
  [text, path]: [string | undefined, string],
  options: EditOptions,
): Promise<void> {
  atMostOne(options, ['delete', 'file']);
  const place = await withApp(cli, await threadPlace(cli, text));
  const { latestSourceId, projectId } = await place.of(cli.client).get({ signal: cli.signal });
  if (latestSourceId === null)
    throw new Fault(EXIT.conflict, 'The thread has no source to edit yet.', { hint: 'headrace thread show' });
  const before = await fileOf(cli, place, { projectId, sourceId: latestSourceId, path });
  const change = await changeOf(cli, { path, before }, options);
  if (change === undefined) return cli.say('Nothing was changed.');
  const body = {
    expectedSourceId: latestSourceId,
    changes: [change],
    ...(options.message !== undefined && { message: options.message }),
  };
  await save(cli, place, body).catch((error: unknown) => {
    if (options.file === undefined || options.file === '-') keep(cli, change);
    throw error;
  });
}

/** Null if the source has no such file. */
async function fileOf(
  cli: Cli,
  { appId }: Place,
  { projectId, sourceId, path }: { projectId: string; sourceId: string; path: string },
): Promise<SourceFileContent | null> {
  const { sources } = appId === undefined ? cli.client.project(projectId) : cli.client.app(appId);
  try {
    return await sources.file(sourceId, { path, signal: cli.signal });
  } catch (error) {
    if (isCode(error, 'file_not_found')) return null;
    throw error;
  }
}

/** Undefined if nothing is to be changed. */
async function changeOf(
  cli: Cli,
  { path, before }: { path: string; before: SourceFileContent | null },
  { file, delete: isDeleted }: EditOptions,
): Promise<Change | undefined> {
  if (isDeleted) {
    if (before) return { path, content: null };
    throw new Fault(EXIT.notFound, `The thread has no file ${oneLine(path)}.`, { hint: 'headrace files' });
  }
  if (file !== undefined) {
    const content = await readBytes(cli, file);
    return { path, content: content.toString('base64'), encoding: 'base64' };
  }
  if (before?.encoding === 'base64') throw usage(`${oneLine(path)} is not text.`, 'Replace it: --file FILE');
  const content = await editText(cli, { name: path, text: before?.content ?? '' });
  if (content === null || content === (before?.content ?? '')) return undefined;
  return { path, content };
}

async function save(cli: Cli, place: Place, body: CreateEditInput): Promise<void> {
  try {
    const source = await cli.write(
      (client) => place.of(client).edits.create(body, { signal: cli.signal }),
      JSON.stringify(body),
    );
    cli.show({ source }, () => source.id);
    cli.say(cli.paintTalk('dim', `→ ${afterChange(place.threadId)}`));
  } catch (error) {
    if (!isCode(error, 'stale_source')) throw error;
    throw new Fault(EXIT.conflict, 'The thread has changed meanwhile: it has a newer source.', {
      code: 'stale_source',
      hint: `headrace diff -t ${place.threadId} shows what it has: edit again.`,
    });
  }
}

/** Keeps a text that could not be saved, so that it need not be written again. */
function keep(cli: Cli, { path, content, encoding }: Change): void {
  if (typeof content !== 'string') return;
  const kept = join(mkdtempSync(join(cli.io.env.TMPDIR || tmpdir(), 'headrace-kept-')), basename(path));
  writeFileSync(kept, Buffer.from(content, encoding ?? 'utf8'), { mode: 0o600 });
  // Also with --quiet: it is a part of the error.
  cli.io.stderr.write(`The text is kept: ${oneLine(kept)}\n`);
}
