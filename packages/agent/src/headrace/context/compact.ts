import type { ModelMessage, ToolResultPart } from 'ai';
import { ModelFailure } from '../model/failure.ts';
import type { Ask } from '../model/model.ts';
import { IMAGES_HEAD } from '../tool-batch.ts';
import { clip } from '../tools/clip.ts';
import { charactersOf, Meter, sizeOf, sizeOfAll } from './measure.ts';
import { trim } from './trim.ts';

/**
 * Shares of the window: above the first, room is made; trimming suffices when it gets below the second; the
 * newest messages that stay take the third.
 */
const FULL = 0.7,
  ENOUGH = 0.5,
  KEPT = 0.2;
const SUMMARY_SHARE = 0.4,
  REQUEST_SHARE = 0.25,
  REQUEST_CHARACTERS = 20_000,
  FALLBACK_CHARACTERS = 4000;

const SUMMARY_HEAD = '[The conversation before this point, summarised]',
  REQUEST_HEAD = "[The user's last message, as it was]";

const SUMMARY_PROMPT =
  "You are given the transcript of a coding agent's work so far; it will go on with your summary in its " +
  'place. Write what it needs to know: what the user asked for and decided, in their words where that ' +
  'matters; what was done, with paths and names; what was found out (commands, errors, facts about the ' +
  'code); what is still to be done. No introduction, no opinion.';

interface Room {
  messages: ModelMessage[];
  /** What was done, for a person; undefined: nothing. */
  note: string | undefined;
}

/**
 * Makes room in a conversation that nears the model's window: old tool outputs go first, then the model turns
 * old messages into one summary. Calls and their results stay together. `isForced`: the provider called it
 * too long, whatever we count.
 */
export async function makeRoom({
  messages,
  meter,
  overhead,
  contextTokens,
  ask,
  isForced = false,
}: {
  messages: ModelMessage[];
  meter: Meter;
  overhead: number;
  contextTokens: number;
  ask: Ask;
  isForced?: boolean;
}): Promise<Room> {
  const before = meter.tokens(messages, overhead);
  if (!isForced && before <= contextTokens * FULL) return { messages, note: undefined };
  // What the provider refuses is full, however large the window is said to be.
  const window = isForced ? Math.min(contextTokens, before) : contextTokens;
  meter.forget();
  const from = keptFrom(messages, charactersOf(window * KEPT));
  const trimmed = trim(messages, from === 0 ? messages.length : from);
  if (
    from === 0 ||
    (meter.tokens(trimmed, overhead) <= window * ENOUGH && sizeOfAll(trimmed) < sizeOfAll(messages) * 0.8)
  )
    return { messages: trimmed, note: 'Old outputs were left out of the conversation to make room.' };
  const summary = await summarise(trimmed.slice(0, from), charactersOf(window * SUMMARY_SHARE), ask);
  const request = lastRequest(messages, from);
  const requestCharacters = Math.min(REQUEST_CHARACTERS, charactersOf(window * REQUEST_SHARE));
  const content = [
    SUMMARY_HEAD,
    summary,
    ...(request === undefined ? [] : [REQUEST_HEAD, clip(request, requestCharacters).text]),
  ].join('\n\n');
  return {
    messages: [{ role: 'user', content }, ...messages.slice(from)],
    note: 'Older messages were summarised to make room.',
  };
}

/**
 * The index from which messages stay: the newest that fit into `room` characters, at least the last with its
 * calls. Never a result without its call.
 */
function keptFrom(messages: ModelMessage[], room: number): number {
  let from = messages.length,
    size = 0;
  for (let at = messages.length - 1; at >= 0; at--) {
    size += sizeOf(messages[at]!);
    if (size > room && from < messages.length) break;
    if (messages[at]!.role !== 'tool') from = at;
  }
  return from;
}

/**
 * The last request among the messages that go; undefined when a question of the user is among those that
 * stay.
 */
function lastRequest(messages: ModelMessage[], from: number): string | undefined {
  return messages.slice(from).some((message) => requestOf(message) !== undefined)
    ? undefined
    : messages
        .slice(0, from)
        .map(requestOf)
        .findLast((text) => text !== undefined);
}

/** The user's request, also when an earlier summary quotes it. */
function requestOf({ role, content }: ModelMessage): string | undefined {
  if (role !== 'user') return undefined;
  const text =
    typeof content === 'string'
      ? content
      : content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
  if (text.startsWith(SUMMARY_HEAD)) return text.split(`${REQUEST_HEAD}\n\n`)[1];
  return text.startsWith(IMAGES_HEAD) ? undefined : text;
}

async function summarise(messages: ModelMessage[], room: number, ask: Ask): Promise<string> {
  const transcript = messages.map(lineOf).join('\n\n');
  for (const size of [room, room / 2]) {
    const question = {
      instructions: SUMMARY_PROMPT,
      messages: [{ role: 'user' as const, content: clip(transcript, Math.floor(size)).text }],
      tools: [],
    };
    try {
      const { text } = await ask(question, {
        text: () => undefined,
        thought: () => undefined,
        call: () => undefined,
      });
      if (text.trim() !== '') return text.trim();
    } catch (error) {
      if (!(error instanceof ModelFailure && error.isTooLong)) throw error;
    }
  }
  return clip(transcript, FALLBACK_CHARACTERS).text;
}

function outputText(output: ToolResultPart['output']): string {
  return 'value' in output && typeof output.value === 'string' ? output.value : JSON.stringify(output);
}

function lineOf({ role, content }: ModelMessage): string {
  const parts =
    typeof content === 'string'
      ? [content]
      : content.map((part) => {
          if (part.type === 'text') return part.text;
          if (part.type === 'tool-call') return `[calls ${part.toolName} ${JSON.stringify(part.input)}]`;
          if (part.type === 'tool-result') return `[result of ${part.toolName}: ${outputText(part.output)}]`;
          return '';
        });
  return `${role}: ${parts.filter((part) => part !== '').join('\n')}`;
}
