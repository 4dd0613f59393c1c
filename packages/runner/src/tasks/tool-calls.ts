import type { Mask, MaskedText } from '../masking/mask.ts';
import { TOOL_OUTPUT_BYTES, type JournalEntry } from '../protocol.ts';
import { isObject, type Params } from './acp-connection.ts';
import { AcpFault } from './acp-fault.ts';
import type { Journal } from './journal.ts';

type ToolEntry = Omit<Extract<JournalEntry, { type: 'tool' }>, 'offset' | 'at' | 'type'>;
/**
 * A call, its output that comes in pieces (null: none did), and the number of their bytes: a summary of the
 * result (an exit code) does not replace these.
 */
interface Call extends ToolEntry {
  pieces: MaskedText | null;
  streamed: number;
}

const STATUS: Record<string, ToolEntry['status']> = {
  pending: 'pending',
  in_progress: 'running',
  completed: 'completed',
  failed: 'failed',
};
/** Databases limit the nesting of JSON; nothing that a person wants to read is nested this deeply. */
const INPUT_CHARACTERS = 64 * 1024,
  INPUT_LEVELS = 64;
const ID_CHARACTERS = 500,
  NAME_CHARACTERS = 200,
  TITLE_CHARACTERS = 1000;
/**
 * Limits on the calls of a turn, the changes of their status, and the concurrent calls; an agent above them
 * is out of control.
 */
const CALLS = 5_000,
  CHANGES = 16_000,
  OPEN_CALLS = 256;

/**
 * The tool calls of one turn: merges ACP's partial updates and journals each change of status. Trusts
 * nothing; a wrong shape counts as absent.
 */
export class ToolCalls {
  readonly #journal: Journal;
  readonly #mask: Mask;
  readonly #open = new Map<string, Call>();
  readonly #ended = new Map<string, Call>();
  #changes = 0;

  constructor(journal: Journal, mask: Mask) {
    this.#journal = journal;
    this.#mask = mask;
  }

  /** The call in its present state. Throws AcpFault over a limit. */
  update(update: Params): Readonly<ToolEntry> {
    const toolCallId = this.#mask.text(words(update['toolCallId'])).slice(0, ID_CHARACTERS);
    if (toolCallId === '') throw new AcpFault('The agent told of a tool call without an id.');
    const ended = this.#ended.get(toolCallId);
    if (ended) return ended;
    const known = this.#open.get(toolCallId);
    const tool = merged(
      known ?? {
        toolCallId,
        name: UNNAMED,
        title: '',
        status: 'pending',
        input: null,
        output: null,
        truncated: false,
        pieces: null,
        streamed: 0,
      },
      update,
      this.#mask,
    );
    if (!known && this.#open.size + this.#ended.size >= CALLS)
      throw new AcpFault(`The agent made more than ${CALLS} tool calls.`);
    if (!known && this.#open.size >= OPEN_CALLS)
      throw new AcpFault(`The agent had more than ${OPEN_CALLS} tool calls under way at once.`);
    this.#keep(tool);
    if (!known || tool.status !== known.status) this.#tell(tool);
    return tool;
  }

  /** Ends the calls that the agent left open. */
  close(status: 'cancelled' | 'failed'): void {
    for (const tool of this.#open.values()) this.#append({ ...tool, ...lastOf(tool), status });
    this.#open.clear();
  }

  #keep(tool: Call): void {
    if (!hasEnded(tool)) {
      this.#open.set(tool.toolCallId, tool);
      return;
    }
    this.#open.delete(tool.toolCallId);
    this.#ended.set(tool.toolCallId, { ...tool, input: null, output: null, pieces: null });
  }

  #tell(tool: Call): void {
    if (++this.#changes > CHANGES)
      throw new AcpFault(`The agent's tool calls changed more than ${CHANGES} times.`);
    this.#append(tool);
  }

  #append(call: Call): void {
    const { pieces: _, streamed: __, ...tool } = call;
    this.#journal.append({ type: 'tool', ...tool });
  }
}

/** The name of a call until its agent gives one. */
const UNNAMED = 'tool';

function merged(before: Call, update: Params, mask: Mask): Call {
  const { title, status, rawInput } = update;
  const call = {
    ...before,
    name: before.name === UNNAMED ? mask.text(nameOf(update)).slice(0, NAME_CHARACTERS) : before.name,
    title: typeof title === 'string' ? masked(title, update, mask).slice(0, TITLE_CHARACTERS) : before.title,
    status: typeof status === 'string' ? (STATUS[status] ?? before.status) : before.status,
    input: rawInput === undefined ? before.input : bounded(rawInput, mask),
    ...outputAfter(before, update, mask),
  };
  return hasEnded(call) ? { ...call, ...lastOf(call) } : call;
}

const hasEnded = ({ status }: Call): boolean => status === 'completed' || status === 'failed';

/** ACP has no field for a tool's name: agents put it into _meta; otherwise the kind has to do. */
function nameOf(update: Params): string {
  const meta = metaOf(update),
    { claudeCode } = meta;
  return (
    words(meta['headrace/tool']) ||
    (isObject(claudeCode) && words(claudeCode['toolName'])) ||
    words(update['kind']) ||
    UNNAMED
  );
}

/**
 * The output after an update, which carries all of it or a further piece. Agents also send the result in
 * `rawOutput`, which counts when there is nothing better.
 */
function outputAfter(before: Call, update: Params, mask: Mask): Partial<Call> {
  const text = textOf(update['content']),
    piece = pieceOf(metaOf(update));
  if (text !== undefined)
    return { ...cut(masked(text, update, mask), { wasCut: isCutBy(update) }), pieces: null, streamed: 0 };
  if (piece !== undefined) {
    const pieces = before.pieces ?? mask.stream();
    return { pieces, ...joined(before, pieces.push(piece)) };
  }
  const { rawOutput } = update;
  if (before.pieces || rawOutput === undefined || rawOutput === null) return {};
  const result = mask.text(typeof rawOutput === 'string' ? rawOutput : jsonOf(rawOutput));
  return cut(result, { wasCut: isCutBy(update) });
}

/** A call that goes on may be told of in growing texts, each of which may end within a secret. */
const masked = (text: string, { status }: Params, mask: Mask): string =>
  status === 'completed' || status === 'failed' ? mask.text(text) : mask.beginning(text);

const isCutBy = (update: Params): boolean => metaOf(update)['headrace/truncated'] === true;

function textOf(content: unknown): string | undefined {
  const parts = (Array.isArray(content) ? content : []).flatMap((part) =>
    isObject(part) && isObject(part['content']) && typeof part['content']['text'] === 'string'
      ? [part['content']['text']]
      : [],
  );
  return parts.length > 0 ? parts.join('\n') : undefined;
}

/** What a command printed since the last update: Codex and pi report it under different names. */
function pieceOf(meta: Params): string | undefined {
  const piece = ['terminal_output_delta', 'terminal_output'].map((name) => meta[name]).find(isObject)?.[
    'data'
  ];
  return typeof piece === 'string' && piece !== '' ? piece : undefined;
}

/** The output with what its pieces held back until their end. */
function lastOf(call: Call): Partial<Call> {
  const rest = call.pieces?.end() ?? '';
  return rest === '' ? {} : joined(call, rest);
}

/** Bytes are counted per piece: measuring the whole each time would take quadratic time. */
function joined({ output, truncated, streamed }: Call, piece: string): Partial<Call> {
  if (streamed > 0 && truncated) return {};
  const before = streamed > 0 ? (output ?? '') : '',
    bytes = streamed + Buffer.byteLength(piece);
  return bytes <= TOOL_OUTPUT_BYTES
    ? { output: before + piece, truncated: false, streamed: bytes }
    : { ...cut(before + piece, { wasCut: true }), streamed: bytes };
}

function cut(text: string, { wasCut }: { wasCut: boolean }): Pick<ToolEntry, 'output' | 'truncated'> {
  if (Buffer.byteLength(text) <= TOOL_OUTPUT_BYTES) return { output: text, truncated: wasCut };
  return {
    output: Buffer.from(text)
      .subarray(0, TOOL_OUTPUT_BYTES - 3)
      .toString()
      .replace(/\uFFFD+$/, ''),
    truncated: true,
  };
}

function bounded(given: unknown, mask: Mask): unknown {
  if (isDeeper(given, INPUT_LEVELS))
    return { truncated: mask.text(jsonOf(given)).slice(0, INPUT_CHARACTERS) };
  const input = mask.json(given);
  const text = jsonOf(input);
  return text.length <= INPUT_CHARACTERS ? input : { truncated: text.slice(0, INPUT_CHARACTERS) };
}

const isDeeper = (value: unknown, levels: number): boolean =>
  typeof value === 'object' &&
  value !== null &&
  (levels === 0 || Object.values(value).some((part) => isDeeper(part, levels - 1)));

function jsonOf(value: unknown): string {
  try {
    return JSON.stringify(value) ?? 'null';
  } catch {
    throw new AcpFault('The agent told of a tool call that is nested too deeply.');
  }
}

const words = (value: unknown): string => (typeof value === 'string' ? value : '');
const metaOf = ({ _meta: meta }: Params): Params => (isObject(meta) ? meta : {});
