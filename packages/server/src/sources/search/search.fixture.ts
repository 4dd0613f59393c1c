/** A plain search, to compare with, and the search of one thread without its thread. */
import { buildPack } from '../../trees/pack.ts';
import { sha256Of } from '../../trees/manifest.ts';
import { comparePaths } from '../../trees/paths.ts';
import type { Answer, Found, Line, Query, SearchJob } from './protocol.ts';
import run from './search.worker.ts';

export type Files = Record<string, Buffer>;
export const QUERY: Query = {
  q: '',
  regex: false,
  caseSensitive: true,
  context: 0,
  include: null,
  exclude: null,
};

const sorted = (files: Files) => Object.entries(files).sort(([a], [b]) => comparePaths(a, b));

export interface PlainFound {
  matches: (Line & { path: string })[];
  binary: string[];
}

const shortened = (line: string) => [...line].slice(0, 1000).join('');

/** What the search has to find: lines cut at `\n`, and RegExp on each. */
export function plainSearch(files: Files, query: Query): PlainFound {
  const escaped = query.regex ? query.q : query.q.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
  const pattern = new RegExp(escaped, query.caseSensitive ? 'gsu' : 'gisu');
  const found: PlainFound = { matches: [], binary: [] };
  for (const [path, bytes] of sorted(files)) {
    if (bytes.subarray(0, 8000).includes(0)) {
      found.binary.push(path);
      continue;
    }
    const pieces = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes).split('\n');
    const last = pieces.pop()!;
    const lines = [...pieces.map((line) => line.replace(/\r$/, '')), ...(last === '' ? [] : [last])];
    for (const [i, line] of lines.entries()) {
      const all = [...line.matchAll(pattern)];
      if (all.length === 0) continue;
      const points = (units: number) => Array.from(line.slice(0, units)).length;
      const ranges = all
        .filter(([text]) => text !== '')
        .slice(0, 100)
        .map(({ 0: text, index }) => ({ start: points(index), end: points(index + text.length) }));
      const column = (ranges[0]?.start ?? points(all[0]!.index)) + 1;
      const around = (from: number, to: number) => lines.slice(Math.max(from, 0), to).map(shortened);
      found.matches.push({
        path,
        line: i + 1,
        column,
        text: shortened(line),
        ranges,
        before: around(i - query.context, i),
        after: around(i + 1, i + 1 + query.context),
        truncated: [...line].length > 1000,
      });
    }
  }
  return found;
}

interface Limits {
  limit?: number;
  endsAt?: number;
}

/** One job over all files, from a line of one on. */
export function jobOf(
  files: Files,
  query: Query,
  from: { file: number; line: number },
  { limit = 1e6, endsAt = Infinity }: Limits = {},
): SearchJob {
  const all = sorted(files);
  const { bytes, index } = buildPack(
    all.map(([, content]) => ({ sha256: sha256Of(content), bytes: content })),
  );
  const places = all.slice(from.file).flatMap(([, content]) => {
    const { frame, offset, length } = index.blobs.get(sha256Of(content))!;
    return [frame, offset, length];
  });
  const frames = index.frames.flatMap(({ offset, length, rawLength }) => [0, offset, length, rawLength]);
  return {
    kind: 'search',
    query,
    places: Int32Array.from(places),
    frames: Int32Array.from(frames),
    ranges: [new Uint8Array(bytes)],
    line: from.line,
    isPatient: true,
    limit,
    control: new Int32Array(2),
    since: Date.now(),
    endsAt,
  };
}

/** All that is found, by as many jobs as it takes. */
export function searchAll(files: Files, query: Query, limits?: Limits): PlainFound & { jobs: number } {
  const paths = sorted(files).map(([path]) => path);
  const found: PlainFound & { jobs: number } = { matches: [], binary: [], jobs: 0 };
  let from: Found['rest'] = { file: 0, line: 0 };
  while (from) {
    const answer: Answer = run(jobOf(files, query, from, limits));
    if (answer.kind !== 'found') throw new Error(JSON.stringify(answer));
    const { file: first }: { file: number } = from;
    for (const { file, ...line } of answer.matches)
      found.matches.push({ path: paths[first + file]!, ...line });
    found.binary.push(...answer.binary.map((file) => paths[first + file]!));
    found.jobs++;
    const next: Found['rest'] = answer.rest && { file: first + answer.rest.file, line: answer.rest.line };
    if (next && from.file === next.file && from.line === next.line) throw new Error('a job without progress');
    from = next;
  }
  return found;
}

/** Globs, and paths of letters in no order that they take milliseconds each for: as many states of RE2 as letters. */
export const SLOW_GLOBS = Array.from({ length: 20 }, (_, i) => `*a${'?'.repeat(i + 12)}b*a*b*c`).join(',');

export function slowPaths(count: number): string[] {
  let state = 1;
  const letter = () => {
    state = (state * 48_271) % 2_147_483_647;
    return 'ab'[state % 2]!;
  };
  return Array.from({ length: count }, (_, i) => `${Array.from({ length: 200 }, letter).join('')}${i}`);
}
