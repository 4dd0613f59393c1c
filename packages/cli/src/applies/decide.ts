/** Conflicts decided by a person at a terminal, key by key. */
import type { ConflictFile } from '@headrace/client';
import type { Cli } from '../core/cli.ts';
import { editText } from '../terminal/editor.ts';
import { oneLine, shown } from '../terminal/escape.ts';
import { page } from '../terminal/pager.ts';
import { readKey } from '../terminal/keys.ts';
import { conflictScreen } from './conflict-screen.ts';
import { begin, decide, keep, nextOf, planOf, undo } from './decisions.ts';
import type { Conflict, Decision, Decisions, KeptDecision, OwnText, Place, Plan } from './decisions.ts';
import { markersIn, withBoth } from './regions.ts';
import { summaryOf } from './summary.ts';

export interface Session {
  conflicts: readonly Conflict[];
  /** Those made before. */
  decisions: Decisions;
  /** The file of a conflict, at the head that the conflicts are with. */
  load(path: string): Promise<ConflictFile>;
  loaded: ReadonlyMap<string, ConflictFile>;
  /** After each decision: what is killed loses none. */
  save(kept: readonly KeptDecision[]): void;
}

export type Outcome = { end: 'send'; plan: Plan; decisions: Decisions } | { end: 'quit' | 'open' };

/** Asks about each conflict without a decision, and then whether to send what was decided. */
export async function decideConflicts(cli: Cli, session: Session): Promise<Outcome> {
  let place = begin(session.conflicts, session.decisions);
  for (;;) {
    const conflict = nextOf(place);
    const step = conflict
      ? await askOne(cli, session, { place, conflict })
      : await askAll(cli, session, place);
    if ('end' in step) return step;
    place = step;
    session.save(keep(session.conflicts, place.decisions));
  }
}

// One conflict.

interface Key {
  key: string;
  word: string;
  help: string;
}

async function askOne(
  cli: Cli,
  session: Session,
  { place, conflict }: { place: Place; conflict: Conflict },
): Promise<Place | { end: 'quit' }> {
  const { path } = conflict;
  const file = await session.load(path);
  const texts = textsOf(file);
  const keys = keysOf(place, file, texts);
  const size = { width: widthOf(cli), paint: cli.paintTalk };
  const [number, count] = [session.conflicts.indexOf(conflict) + 1, session.conflicts.length];
  talk(cli, `\n${conflictScreen({ conflict, file, place: number, count }, size)}\n`);
  for (;;) {
    switch (await askKey(cli, keys)) {
      case 'h':
        return decide(place, path, { take: 'head' });
      case 'd':
        return decide(place, path, { take: 'draft' });
      case 'b':
        return decide(place, path, { own: { content: texts.both!, encoding: 'utf8', from: 'both sides' } });
      case 'e': {
        const own = await editOwn(cli, file, texts.edit!);
        if (own) return decide(place, path, { own });
        break;
      }
      case 's':
        return decide(place, path, 'skip');
      case 'a':
        return decide(place, path, 'agent');
      case 'u':
        return undo(place);
      case 'v':
        await view(cli, wholeFile(file));
        break;
      case 'q':
        return { end: 'quit' };
      default:
        talk(cli, helpText(keys));
    }
  }
}

interface Texts {
  /** What the editor starts with; null if there is no text to edit. */
  edit: string | null;
  both: string | null;
}

function textsOf({ merged, head, draft, kind }: ConflictFile): Texts {
  if (merged) return { edit: merged.content, both: withBoth(merged) };
  const only = head === null ? draft : draft === null ? head : null;
  const isText = only?.encoding === 'utf8' && only.content !== null && kind !== 'binary' && kind !== 'path';
  return { edit: isText ? only.content : null, both: null };
}

function keysOf({ past }: Place, { head, draft }: ConflictFile, { edit, both }: Texts): Key[] {
  const side = (name: string, file: unknown) =>
    file === null ? `no file, as in the ${name}` : `the ${name}’s whole file`;
  return [
    { key: 'h', word: 'head', help: side('head', head) },
    { key: 'd', word: 'draft', help: side('draft', draft) },
    ...(edit === null ? [] : [{ key: 'e', word: 'edit', help: 'your own text, in $VISUAL, $EDITOR or vi' }]),
    ...(both === null
      ? []
      : [{ key: 'b', word: 'both', help: 'at each place the head’s lines, then the draft’s' }]),
    { key: 's', word: 'skip', help: 'leave it open; nothing is applied then' },
    { key: 'a', word: 'agent', help: 'leave this and all that follow to an agent' },
    { key: 'v', word: 'view', help: 'the whole file' },
    ...(past.length > 0 ? [{ key: 'u', word: 'undo', help: 'the last decision' }] : []),
    { key: 'q', word: 'quit', help: 'apply nothing; the decisions are kept for the next time' },
    { key: '?', word: 'help', help: 'these words' },
  ];
}

/** Null if the editor failed, or its text is no decision. */
async function editOwn(cli: Cli, file: ConflictFile, start: string): Promise<OwnText | null> {
  let text = start;
  for (;;) {
    const saved = await editText(cli, { name: file.path, text });
    if (saved === null) return null;
    if (saved === start && file.merged) {
      talk(cli, 'The text is unchanged, so this conflict is still open.');
      return null;
    }
    const lines = markersIn(saved, file);
    if (lines.length === 0) return { content: saved, encoding: 'utf8', from: 'the editor' };
    talk(
      cli,
      `Markers are left in ${lines.length === 1 ? 'line' : 'lines'} ${lines.slice(0, 10).join(', ')}.`,
    );
    const key = await askKey(cli, [
      { key: 'e', word: 'edit again', help: 'open your text again' },
      { key: 'k', word: 'keep as it is', help: 'the markers belong there' },
      { key: 'x', word: 'drop', help: 'drop your text' },
    ]);
    if (key === 'k') return { content: saved, encoding: 'utf8', from: 'the editor' };
    if (key === 'x') return null;
    text = saved;
  }
}

async function view(cli: Cli, text: string): Promise<void> {
  // Where stdout is a file or a pipe, only data goes there, so no pager.
  if (!cli.io.stdout.isTTY) return talk(cli, text);
  const stopIgnoring = cli.onInterrupt(() => {
    // Ctrl-C is the pager's.
  });
  await page({ env: cli.io.env, stdout: cli.io.stderr }, `${text}\n`).finally(stopIgnoring);
}

/** Everything that there is of it: the text with the markers, or each side's. */
function wholeFile({ merged, head, draft }: ConflictFile): string {
  if (merged) return shown(merged.content);
  const side = (name: string, file: typeof head) =>
    file?.encoding === 'utf8' && file.content !== null ? [`${name}:`, shown(file.content)] : [];
  const lines = [...side('head', head), ...side('draft', draft)];
  return lines.length > 0 ? lines.join('\n') : 'There is no text to show.';
}

// All of them.

async function askAll(cli: Cli, session: Session, place: Place): Promise<Place | Outcome> {
  const { conflicts, decisions } = place;
  const left = [...decisions.values()];
  // What goes into the draft is the file's content.
  if (left.includes('agent'))
    for (const { path } of conflicts) if (isOfHead(decisions.get(path))) await session.load(path);
  const plan = planOf(conflicts, decisions, (path) => session.loaded.get(path));
  talk(cli, `\n${summaryOf(plan, decisions, { width: widthOf(cli), paint: cli.paintTalk })}`);
  const isOpen = plan.open.length > 0;
  const key =
    cli.globals.yes && !isOpen
      ? 'y'
      : await askKey(cli, [
          ...(isOpen
            ? [{ key: 'q', word: 'quit', help: 'nothing is applied; the decisions are kept' }]
            : [
                { key: 'y', word: 'yes, apply', help: 'send these decisions' },
                { key: 'q', word: 'quit', help: 'apply nothing; the decisions are kept for the next time' },
              ]),
          ...(place.past.length > 0 ? [{ key: 'u', word: 'undo', help: 'the last decision' }] : []),
        ]);
  if (key === 'u') return undo(place);
  if (key === 'q') return { end: isOpen ? 'open' : 'quit' };
  return { end: 'send', plan, decisions };
}

const isOfHead = (decision: Decision | undefined): boolean =>
  typeof decision === 'object' && 'take' in decision && decision.take === 'head';

// The terminal.

/** What a person must see to decide: --quiet does not hide it. */
const talk = (cli: Cli, text: string): void => void cli.io.stderr.write(`${text}\n`);

export const widthOf = (cli: Cli): number => Math.max(40, cli.io.stderr.columns ?? 80);

/** Waits for one of the keys; `?` is returned for the help. */
async function askKey(cli: Cli, keys: readonly Key[]): Promise<string> {
  const { paintTalk: paint } = cli;
  const words = keys.map(({ key, word }) => `${paint('bold', key)} ${word}`);
  const lengths = keys.map(({ key, word }) => key.length + word.length + 1);
  talk(cli, wrapped(words, lengths, widthOf(cli)));
  for (;;) {
    const typed = (await readKey(cli.io, cli.signal)).toLowerCase();
    const found = keys.find(({ key }) => key === typed);
    if (found) {
      talk(cli, paint('dim', `> ${oneLine(found.word)}`));
      return found.key;
    }
  }
}

function wrapped(words: readonly string[], lengths: readonly number[], width: number): string {
  const lines: string[][] = [[]];
  let used = 0;
  for (const [at, word] of words.entries()) {
    if (used > 0 && used + 3 + lengths[at]! > width) {
      lines.push([]);
      used = 0;
    }
    lines.at(-1)!.push(word);
    used += lengths[at]! + (used > 0 ? 3 : 0);
  }
  return lines.map((line) => line.join('   ')).join('\n');
}

const helpText = (keys: readonly Key[]): string =>
  keys.map(({ key, word, help }) => `  ${key}  ${word.padEnd(6)} ${help}`).join('\n');
