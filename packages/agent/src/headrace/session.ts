import { join } from 'node:path';
import type { ModelMessage } from 'ai';
import { Meter } from './context/measure.ts';
import type { McpToolbox } from './mcp/toolbox.ts';
import type { OfferedTool } from './offered-tool.ts';
import { loadSession, saveSession } from './session-file.ts';
import { Steering } from './steering.ts';
import { builtInTools } from './tools/index.ts';
import { ignoredNote } from './tools/schema.ts';
import type { Workplace } from './tools/tool.ts';

/** A conversation and its tools. It is saved in HOME, so that the thread's next turn resumes it. */
export class Session {
  readonly id: string;
  readonly workplace: Workplace;
  readonly mcp: McpToolbox;
  readonly steering = new Steering();
  readonly meter = new Meter();
  readonly #file: string;
  readonly #tools: OfferedTool[];
  messages: ModelMessage[] = [];
  isBusy = false;
  #calls = 0;

  constructor(id: string, home: string, workplace: Workplace, mcp: McpToolbox) {
    this.id = id;
    this.workplace = workplace;
    this.mcp = mcp;
    this.#file = join(home, '.headrace', 'session.json');
    this.#tools = builtInTools().map(({ run, ...tool }) => ({
      ...tool,
      isOwn: true,
      async run(input) {
        const result = await run(input, workplace);
        return { ...result, text: result.text + ignoredNote(tool.schema, input) };
      },
    }));
  }

  /** False when there is no such session to resume. */
  load(): boolean {
    const messages = loadSession(this.#file, this.id);
    this.messages = messages ?? [];
    return messages !== undefined;
  }

  nextCallId(): string {
    return `call-${++this.#calls}`;
  }

  save(): void {
    saveSession(this.#file, this.id, this.messages);
  }

  async tools(): Promise<OfferedTool[]> {
    return [...this.#tools, ...(await this.mcp.tools(this.#tools.map((tool) => tool.name)))];
  }
}
