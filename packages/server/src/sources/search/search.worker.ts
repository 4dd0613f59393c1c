/** A thread that searches: it decompresses frames of packs, and keeps nothing but the last patterns. */
import { RE2JS } from 're2js';
import { FrameDamage, Frames } from './frames.ts';
import { compile, PatternFault } from './pattern.ts';
import type { Pattern } from './pattern.ts';
import { BEGAN, STOP } from './protocol.ts';
import type { Answer, Found, Job, Query, SearchJob, SelectJob } from './protocol.ts';
import { searchFile } from './search-file.ts';

/** A file with a NUL among these is binary. */
const BINARY_BYTES = 8_000;
/** Characters of an answer, about; a longer one would block the event loop that sends it. */
const MAX_CHARACTERS = 2_000_000;
/** Then others have their turn. */
const SLICE_MS = 250;
const MAX_PATTERNS = 8;
const patterns = new Map<string, Pattern>();

function patternOf(query: Query): Pattern {
  const key = JSON.stringify([query.q, query.regex, query.caseSensitive]);
  const known = patterns.get(key);
  if (known) return known;
  const pattern = compile(query);
  patterns.set(key, pattern);
  for (const oldest of patterns.keys()) {
    if (patterns.size <= MAX_PATTERNS) break;
    patterns.delete(oldest);
  }
  return pattern;
}

export default function run(job: Job): Answer {
  Atomics.store(job.control, BEGAN, Math.max(Date.now() - job.since, 1));
  try {
    return job.kind === 'select' ? select(job) : { kind: 'found', ...search(job) };
  } catch (error) {
    if (error instanceof PatternFault) return { kind: 'fault', message: error.message };
    if (error instanceof FrameDamage) return { kind: 'damaged', message: error.message };
    throw error;
  }
}

const lateness = (job: Job, endsAt: number) => () =>
  Atomics.load(job.control, STOP) === 1 || Date.now() >= endsAt;

const dueAt = ({ endsAt }: Job) => Math.min(endsAt, Date.now() + SLICE_MS);

function select(job: SelectJob): Answer {
  patternOf(job.query);
  if (job.paths === null) return { kind: 'selected', chosen: null, read: 0 };
  const [include, exclude] = [job.query.include, job.query.exclude].map((p) => p && RE2JS.compile(p));
  const isDue = lateness(job, dueAt(job));
  const paths = job.paths.split('\0');
  const chosen: number[] = [];
  let read = 0;
  for (const path of paths) {
    if (read > 0 && isDue()) break;
    if ((!include || include.test(path)) && !(exclude && exclude.test(path))) chosen.push(read);
    read++;
  }
  return { kind: 'selected', chosen: Int32Array.from(chosen), read };
}

function search(job: SearchJob): Found {
  const pattern = patternOf(job.query);
  const frames = new Frames(job, pattern.openFinder);
  const isLate = lateness(job, job.endsAt);
  const isDue = lateness(job, dueAt(job));
  const found: Found = { matches: [], binary: [], rest: null };
  let characters = 0;
  for (let file = 0; file < job.places.length / 3; file++) {
    const isFirst = file === 0;
    const line = isFirst ? job.line : 0;
    const isFull = found.matches.length >= job.limit || characters > MAX_CHARACTERS;
    if (isFull || (!isFirst && isDue())) return { ...found, rest: { file, line } };
    const frame = frames.of(file);
    const [, start, length] = job.places.subarray(file * 3, file * 3 + 3) as unknown as [
      number,
      number,
      number,
    ];
    const end = start + length;
    const nul = frame.nul(start);
    if (nul >= 0 && nul < Math.min(end, start + BINARY_BYTES)) {
      found.binary.push(file);
      continue;
    }
    const limit = job.limit - found.matches.length;
    const { matches, rest } = searchFile(
      { frame, start, end },
      {
        pattern,
        context: job.query.context,
        line,
        limit,
        isLate,
        isDue,
        isPatient: isFirst && job.isPatient,
      },
    );
    for (const match of matches) {
      found.matches.push({ file, ...match });
      for (const text of [match.text, ...match.before, ...match.after]) characters += text.length;
    }
    if (rest !== null) return { ...found, rest: { file, line: rest } };
  }
  return found;
}
