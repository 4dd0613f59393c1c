/** `headrace search`: the lines of a source that match. */
import type { SearchMatch } from '@headrace/client';
import type { Cli } from '../core/cli.ts';
import { sourceNamed } from '../core/sources.ts';
import { countOf } from '../terminal/count.ts';
import { shown } from '../terminal/escape.ts';

interface SearchOptions {
  source: string | undefined;
  regex: boolean;
  'ignore-case': boolean;
  include: string[];
  exclude: string[];
  around: number | undefined;
  limit: number | undefined;
}

const PAGE = 200;
const SHOWN_LINES = 1_000;

export async function searchFiles(cli: Cli, q: string, options: SearchOptions): Promise<void> {
  const { source, regex, include, exclude, around, limit = SHOWN_LINES } = options;
  const appId = await cli.appId();
  const sourceId = await sourceNamed(cli, source ?? 'head', appId);
  const query = {
    q,
    regex,
    caseSensitive: !options['ignore-case'],
    ...(include.length > 0 && { include: include.join(',') }),
    ...(exclude.length > 0 && { exclude: exclude.join(',') }),
    ...(around !== undefined && { context: around }),
    signal: cli.signal,
  };
  const printer = new Printer(cli, (around ?? 0) > 0);
  const matches: SearchMatch[] = [];
  const skipped = { binary: 0, tooLarge: 0 };
  let [nextCursor, hasMore]: [string | null, boolean] = [null, true];
  while (hasMore && matches.length < limit) {
    const page = await cli.client.sources.search(appId, sourceId, {
      ...query,
      limit: Math.min(PAGE, limit - matches.length),
      ...(nextCursor !== null && { cursor: nextCursor }),
    });
    ({ nextCursor, hasMore } = page);
    matches.push(...page.items);
    skipped.binary += page.skipped.binary;
    skipped.tooLarge += page.skipped.tooLarge;
    for (const match of page.items) {
      if (cli.globals.jsonl) cli.printLine(match);
      else if (!cli.isJson) printer.add(match);
    }
  }
  printer.end();
  if (cli.globals.json) return cli.show({ matches, nextCursor, hasMore, skipped }, () => '');
  if (matches.length === 0) cli.say('No line matches.');
  tellRest(cli, skipped, hasMore ? limit : null);
}

function tellRest(
  cli: Cli,
  { binary, tooLarge }: { binary: number; tooLarge: number },
  limit: number | null,
) {
  const left = [
    ...(binary > 0 ? [countOf(binary, 'binary file')] : []),
    ...(tooLarge > 0 ? [`${countOf(tooLarge, 'file')} over 4 MiB or too slow to search`] : []),
  ];
  if (left.length > 0) cli.say(cli.paintTalk('dim', `Not searched: ${left.join(', ')}.`));
  if (limit !== null) cli.say(cli.paintTalk('dim', `There are more: --limit ${limit * 2} shows more.`));
}

/** Prints lines as grep does: each once, though the lines around two matches overlap. */
class Printer {
  readonly #cli: Cli;
  readonly #isGrouped: boolean;
  /** The line printed last. */
  #path = '';
  #line = 0;
  /** The lines behind a match wait: the next one of them may match. */
  #after: string[] = [];

  constructor(cli: Cli, isGrouped: boolean) {
    this.#cli = cli;
    this.#isGrouped = isGrouped;
  }

  add(match: SearchMatch): void {
    const { path, line, before } = match;
    this.#printAfter(path === this.#path ? line : Infinity);
    const isSame = path === this.#path;
    const from = line - before.length;
    const begin = isSame ? Math.max(from, this.#line + 1) : from;
    if (this.#isGrouped && this.#path !== '' && !(isSame && begin === this.#line + 1)) this.#cli.print('--');
    this.#path = path;
    for (let n = begin; n < line; n++) this.#print(n, '-', this.#shown(before[n - from]!));
    this.#print(line, ':', this.#marked(match));
    this.#after = match.after;
  }

  end(): void {
    this.#printAfter(Infinity);
  }

  #printAfter(limit: number): void {
    const first = this.#line + 1;
    for (const [i, text] of this.#after.entries())
      if (first + i < limit) this.#print(first + i, '-', this.#shown(text));
    this.#after = [];
  }

  #print(line: number, mark: ':' | '-', text: string): void {
    const { paint } = this.#cli;
    const separator = paint('cyan', mark);
    const place = paint('magenta', this.#shown(this.#path)) + separator + paint('green', String(line));
    this.#cli.print(`${place}${separator}${text}`);
    this.#line = line;
  }

  #marked({ text, ranges, truncated }: SearchMatch): string {
    const points = Array.from(text);
    const part = (start: number, end?: number) => this.#shown(points.slice(start, end).join(''));
    let [marked, at] = ['', 0];
    for (const { start, end } of ranges) {
      marked += part(at, start) + this.#cli.paint('red', part(start, end));
      at = end;
    }
    return `${marked}${part(at)}${truncated && this.#cli.isTerminal ? this.#cli.paint('dim', '…') : ''}`;
  }

  /** A file's text moves no cursor; a pipe gets it as it is. */
  #shown(text: string): string {
    return this.#cli.isTerminal ? shown(text) : text;
  }
}
