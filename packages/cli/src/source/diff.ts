/** `headrace diff`: what differs between two sources. */
import type { Diff, DiffFile } from '@headrace/client';
import type { Cli } from '../core/cli.ts';
import { usage } from '../core/fault.ts';
import { atMostOne } from '../core/input.ts';
import { noSource, sourceNamed } from '../core/sources.ts';
import { diffStat, paintPatch } from '../terminal/diff.ts';
import { page } from '../terminal/pager.ts';
import { changeLine } from './changes.ts';
import { folderOf, heldBy } from './folder.ts';
import { wholePatch } from './patch.ts';
import type { Sides } from './patch.ts';

interface DiffOptions {
  thread: string | undefined;
  stat: boolean;
  'name-only': boolean;
  'name-status': boolean;
  word: boolean;
  'no-pager': boolean;
}

const LISTS = ['stat', 'name-only', 'name-status'] as const;

export async function showDiff(
  cli: Cli,
  { words, paths }: { words: readonly string[]; paths: readonly string[] },
  options: DiffOptions,
): Promise<void> {
  atMostOne(options, LISTS);
  const named = words.filter(isSource);
  const places = [...words.filter((word) => !isSource(word)), ...paths].map((path) =>
    path.replace(/^\.\/+(?=.)|\/+$/g, ''),
  );
  const sides = await sidesOf(cli, named, options.thread);
  const diff = await diffOf(cli, sides, places, !LISTS.some((name) => options[name]));
  if (cli.isJson) return cli.show({ diff }, () => '');
  if (diff.files.length === 0) return cli.say('No differences.');
  const text = await textOf(cli, sides, diff.files, options);
  if (options['no-pager']) cli.io.stdout.write(text);
  else await page(cli.io, text);
}

/** Everything else is a path. An id's time makes it begin with 0. */
const isSource = (word: string): boolean =>
  word === 'head' || /^([@~]|thread:|src_)/.test(word) || /^0[0-9a-hjkmnp-tv-z]{7,25}$/.test(word);

async function sidesOf(cli: Cli, named: readonly string[], thread: string | undefined): Promise<Sides> {
  if (named.length > 2) throw usage(`A comparison has two sides: ${named[2]} is one too many.`);
  if (thread !== undefined && named.length > 0)
    throw usage('--thread names both sides: give no sources with it.');
  const appId = await cli.appId();
  if (thread !== undefined) return { appId, ...(await sidesOfThread(cli, appId, thread)) };
  const [first, second] = named;
  if (first !== undefined && second !== undefined)
    return {
      appId,
      base: await sourceNamed(cli, first, appId),
      source: await sourceNamed(cli, second, appId),
    };
  const source = first === undefined ? heldVersion(cli, appId) : await sourceNamed(cli, first, appId);
  return { appId, base: await sourceNamed(cli, 'head', appId), source };
}

async function sidesOfThread(
  cli: Cli,
  appId: string,
  text: string,
): Promise<{ base: string; source: string }> {
  const threadId = await cli.threadNamed(text, appId);
  const { sourceId, latestSourceId } = await cli.client.threads.get(appId, threadId, { signal: cli.signal });
  return { base: sourceId ?? noSource(threadId), source: latestSourceId ?? noSource(threadId) };
}

function heldVersion(cli: Cli, appId: string): string {
  const held = heldBy(cli, appId, folderOf(cli, undefined));
  if (held) return held.sourceId;
  throw usage(
    'Which sources? This folder was neither pushed nor pulled.',
    'headrace diff head thread:THREAD, or headrace push; headrace log --sources lists sources',
  );
}

/** As many as one request takes. */
const MOST_PATHS = 50;

/** `places`: files and folders; none means all. */
async function diffOf(cli: Cli, sides: Sides, places: readonly string[], patches: boolean): Promise<Diff> {
  const { appId, base, source } = sides;
  const ask = (query: { patches: boolean; path?: string[] }) =>
    cli.client.sources.diff(appId, source, { base, ...query, signal: cli.signal });
  if (places.length === 0) return ask({ patches });
  const listed = await ask({ patches: false });
  const files = listed.files.filter(({ path, oldPath }) =>
    places.some((place) => isWithin(path, place) || (oldPath !== undefined && isWithin(oldPath, place))),
  );
  if (!patches) return { ...listed, files };
  const found: DiffFile[] = [];
  for (let at = 0; at < files.length; at += MOST_PATHS) {
    const path = files.slice(at, at + MOST_PATHS).map((file) => file.path);
    found.push(...(await ask({ patches, path })).files);
  }
  return { ...listed, files: found };
}

const isWithin = (path: string, place: string): boolean =>
  place === '.' || path === place || path.startsWith(`${place}/`);

async function textOf(
  cli: Cli,
  sides: Sides,
  files: readonly DiffFile[],
  options: DiffOptions,
): Promise<string> {
  const { paint, width, isTerminal } = cli;
  if (options.stat) return `${diffStat(files, { width, paint })}\n`;
  if (options['name-only'] || options['name-status'])
    return files
      .map((file) =>
        options['name-status'] ? changeLine(file, paint) : changeLine(file, paint).split('\t').at(-1)!,
      )
      .map((line) => `${line}\n`)
      .join('');
  let text = '';
  for (const file of files) {
    const patch = await wholePatch(cli, sides, file);
    const isPlain = !isTerminal && !options.word && paint('red', 'x') === 'x';
    text += isPlain ? patch : paintPatch(patch, { paint, words: options.word });
  }
  return text;
}
