import type { ModelMessage, ToolResultPart, UserModelMessage } from 'ai';
import type { Client } from './client.ts';
import type { ModelCall } from './model/model.ts';
import type { OfferedTool } from './offered-tool.ts';
import { clip } from './tools/clip.ts';
import type { Image, ToolResult } from './tools/tool.ts';

/** The part of its output that a record of a tool call keeps. */
const SHOWN_BYTES = 64 * 1024;
/** Marks a message that does not come from the user. */
export const IMAGES_HEAD = '[The images of the results above]';
const TITLE_CHARACTERS = 200,
  PARALLEL = 8,
  IMAGES = 10;
const DENIED =
  'This call was denied by the user or the policy. Do not try it again in another way; go on without ' +
  'it, or say what you would need.';

/** A call that the client knows of. */
export interface AnnouncedCall {
  id: string;
  call: ModelCall;
  tool: OfferedTool | undefined;
}

export class ToolBatch {
  readonly #client: Client;
  readonly #tools: ReadonlyMap<string, OfferedTool>;
  readonly #nextId: () => string;

  constructor(client: Client, tools: OfferedTool[], nextId: () => string) {
    this.#client = client;
    this.#nextId = nextId;
    this.#tools = new Map(tools.map((tool) => [tool.name, tool]));
  }

  /**
   * Announces a call to the client as soon as the model has made it. Ids are ours: some providers restart
   * theirs at each step.
   */
  announce(call: ModelCall): AnnouncedCall {
    const tool = this.#tools.get(call.name);
    const announced = { id: this.#nextId(), call, tool };
    this.#client.update({
      sessionUpdate: 'tool_call',
      ...headOf(announced),
      status: 'pending',
      _meta: { 'headrace/tool': call.name },
    });
    return announced;
  }

  /**
   * Makes a step's calls and returns the messages for the model: reading calls run concurrently, those with
   * effects one by one, in order. `room`: the most characters of all outputs together.
   */
  async run(calls: AnnouncedCall[], room: number): Promise<ModelMessage[]> {
    const results: ToolResult[] = [];
    for (let at = 0; at < calls.length;) {
      const reading = calls.slice(at, at + PARALLEL);
      const end = reading.findIndex(({ tool }) => tool?.hasEffects);
      const group = end === 0 ? calls.slice(at, at + 1) : reading.slice(0, end < 0 ? undefined : end);
      results.push(...(await Promise.all(group.map((call) => this.#make(call)))));
      at += group.length;
    }
    const share = Math.floor(room / Math.max(1, calls.length));
    const content: ToolResultPart[] = calls.map(({ call }, i) => ({
      type: 'tool-result',
      toolCallId: call.id,
      toolName: call.name,
      output: {
        type: results[i]!.isError ? 'error-text' : 'text',
        value: clip(results[i]!.text, share).text,
      },
    }));
    return [{ role: 'tool', content }, ...imageMessage(results.flatMap(({ images = [] }) => images))];
  }

  /** Ends announced calls of an answer that was never completed. */
  abandon(calls: AnnouncedCall[]): void {
    for (const call of calls)
      this.#end(call, { text: 'The connection was lost before the answer was whole.', isError: true });
  }

  async #make(announced: AnnouncedCall): Promise<ToolResult> {
    const { call, tool } = announced;
    if (call.fault !== undefined || !tool)
      return this.#end(announced, { text: call.fault ?? `There is no tool ${call.name}.`, isError: true });
    // Also for reading: only the client knows whether a rule covers it.
    if (!(await this.#client.isAllowed(headOf(announced))))
      return this.#end(announced, { text: DENIED, isError: true });
    this.#client.update({
      sessionUpdate: 'tool_call_update',
      toolCallId: announced.id,
      status: 'in_progress',
    });
    try {
      return this.#end(announced, await tool.run(call.input as Record<string, unknown>));
    } catch (error) {
      return this.#end(announced, {
        text: error instanceof Error ? error.message : String(error),
        isError: true,
      });
    }
  }

  #end({ id }: AnnouncedCall, result: ToolResult): ToolResult {
    const bytes = Buffer.from(result.text);
    const isLong = bytes.length > SHOWN_BYTES;
    const text = isLong
      ? bytes
          .subarray(0, SHOWN_BYTES - 3)
          .toString()
          .replace(/\uFFFD+$/, '')
      : result.text;
    this.#client.update({
      sessionUpdate: 'tool_call_update',
      toolCallId: id,
      status: result.isError ? 'failed' : 'completed',
      content: [{ type: 'content', content: { type: 'text', text } }],
      _meta: { 'headrace/truncated': isLong || result.isCut === true },
    });
    return result;
  }
}

function headOf({ id, call, tool }: AnnouncedCall): {
  toolCallId: string;
  title: string;
  kind: OfferedTool['kind'];
  rawInput: unknown;
} {
  const isReadable = tool !== undefined && call.fault === undefined;
  const title = isReadable ? tool.title(call.input as Record<string, unknown>) : call.name;
  return {
    toolCallId: id,
    title: title.length > TITLE_CHARACTERS ? `${title.slice(0, TITLE_CHARACTERS)}…` : title,
    kind: tool?.kind ?? 'other',
    rawInput: call.input,
  };
}

/** Images go in a message after the results: not every wire can carry them inside. */
function imageMessage(images: Image[]): UserModelMessage[] {
  if (images.length === 0) return [];
  return [
    {
      role: 'user',
      content: [
        { type: 'text', text: IMAGES_HEAD },
        ...images.slice(0, IMAGES).map(({ mediaType, data }) => ({ type: 'file' as const, mediaType, data })),
      ],
    },
  ];
}
