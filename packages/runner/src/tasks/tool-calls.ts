import type { ToolCallUpdate } from '@agentclientprotocol/sdk';
import { TOOL_OUTPUT_BYTES, type JournalEntry } from '../protocol.ts';
import type { Journal } from './journal.ts';

type ToolEntry = Omit<Extract<JournalEntry, { type: 'tool' }>, 'offset' | 'at' | 'type'>;

const STATUS = { pending: 'pending', in_progress: 'running', completed: 'completed', failed: 'failed' } as const;
const INPUT_BYTES = 64 * 1024;
const NAME_CHARACTERS = 200, TITLE_CHARACTERS = 1000;
/** Calls remembered at once; an agent that opens more has lost count of them. */
const OPEN_CALLS = 1000;

/** The tool calls of one turn: merges ACP's partial updates and journals each change of status. */
export class ToolCalls {
  readonly #journal: Journal;
  readonly #open = new Map<string, ToolEntry>();

  constructor(journal: Journal) { this.#journal = journal; }

  update(update: ToolCallUpdate): ToolEntry {
    const known = this.#open.get(update.toolCallId);
    const before: ToolEntry = known ?? { toolCallId: update.toolCallId, name: 'tool', title: '', status: 'pending', input: null, output: null, truncated: false };
    const output = textOf(update);
    const { _meta: meta } = update;
    const tool: ToolEntry = {
      ...before,
      name: known ? before.name : nameOf(update).slice(0, NAME_CHARACTERS),
      title: (update.title ?? before.title).slice(0, TITLE_CHARACTERS),
      status: update.status ? STATUS[update.status] : before.status,
      input: update.rawInput === undefined ? before.input : bounded(update.rawInput),
      ...(output === undefined ? {} : cut(output, meta?.['headrace/truncated'] === true)),
    };
    const isFinal = tool.status === 'completed' || tool.status === 'failed';
    if (isFinal) this.#open.delete(tool.toolCallId); else if (known || this.#open.size < OPEN_CALLS) this.#open.set(tool.toolCallId, tool);
    if (!known || tool.status !== before.status) this.#journal.append({ type: 'tool', ...tool });
    return tool;
  }

  /** Ends the calls that the agent left open. */
  close(status: 'cancelled' | 'failed'): void {
    for (const tool of this.#open.values()) this.#journal.append({ type: 'tool', ...tool, status });
    this.#open.clear();
  }
}

/** ACP has no field for a tool's name: agents tell it in _meta, else the kind has to do. */
function nameOf({ _meta, kind }: ToolCallUpdate): string {
  const name = _meta?.['headrace/tool'] ?? (_meta?.['claudeCode'] as { toolName?: unknown } | undefined)?.toolName;
  return typeof name === 'string' && name !== '' ? name : kind ?? 'tool';
}

function textOf({ content, rawOutput }: ToolCallUpdate): string | undefined {
  const parts = (content ?? []).flatMap((part) => (part.type === 'content' && part.content.type === 'text' ? [part.content.text] : []));
  if (parts.length > 0) return parts.join('\n');
  if (rawOutput === undefined || rawOutput === null) return undefined;
  return typeof rawOutput === 'string' ? rawOutput : JSON.stringify(rawOutput);
}

function cut(text: string, wasCut: boolean): Pick<ToolEntry, 'output' | 'truncated'> {
  if (Buffer.byteLength(text) <= TOOL_OUTPUT_BYTES) return { output: text, truncated: wasCut };
  return { output: Buffer.from(text).subarray(0, TOOL_OUTPUT_BYTES - 3).toString().replace(/\uFFFD+$/, ''), truncated: true };
}

function bounded(input: unknown): unknown {
  const text = JSON.stringify(input) ?? 'null';
  return text.length <= INPUT_BYTES ? input : { truncated: text.slice(0, INPUT_BYTES) };
}
