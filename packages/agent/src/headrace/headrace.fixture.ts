import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { startModelServer, type ModelServer } from '../../../../checks/harness/model-server/index.ts';
import { linesOf } from '../lines.ts';
import type { Wire } from './settings.ts';

const LIMIT_MS = 20_000;

/** The program as the runner bundles it: one CommonJS file. */
export async function bundleAgent(folder: string): Promise<string> {
  const outfile = join(folder, 'headrace.cjs');
  await build({
    entryPoints: [fileURLToPath(new URL('./main.ts', import.meta.url))],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'node24',
    logLevel: 'silent',
  });
  return outfile;
}

/** A test's folder and model server, and agents that end with the test. */
export class Bench {
  readonly folder = mkdtempSync(join(tmpdir(), 'headrace-agent-'));
  readonly agents: Agent[] = [];
  readonly root: string;
  readonly home: string;
  model!: ModelServer;
  #program = '';

  constructor() {
    this.root = this.folderOf('workspace');
    this.home = this.folderOf('home');
  }

  static async open(): Promise<Bench> {
    const bench = new Bench();
    [bench.#program, bench.model] = await Promise.all([
      bundleAgent(bench.folder),
      startModelServer({ requiredKey: 'run-token' }),
    ]);
    return bench;
  }

  folderOf(name: string): string {
    const folder = join(this.folder, name);
    mkdirSync(folder, { recursive: true });
    return folder;
  }

  write(path: string, content: string | Buffer, root = this.root): void {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), content);
  }

  /** An agent that has answered `initialize`. */
  async start({
    wire = 'anthropic',
    env = {},
    root = this.root,
    home = this.home,
  }: { wire?: Wire; env?: Record<string, string>; root?: string; home?: string } = {}): Promise<Agent> {
    const child = spawn(process.execPath, [this.#program], {
      cwd: root,
      stdio: ['pipe', 'pipe', 'pipe'],
      env: {
        PATH: process.env['PATH'],
        HOME: home,
        HEADRACE_WIRE: wire,
        HEADRACE_MODEL: 'local-model',
        HEADRACE_GATEWAY: `${this.model.url}/v1`,
        HEADRACE_TOKEN: 'run-token',
        ...env,
      },
    });
    const agent = new Agent(child);
    this.agents.push(agent);
    await agent.request('initialize', { protocolVersion: 1, clientCapabilities: {} });
    return agent;
  }

  async close(): Promise<void> {
    await Promise.all(this.agents.map((agent) => agent.kill()));
    await this.model.close();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

export interface Update {
  sessionUpdate: string;
  toolCallId?: string;
  status?: string;
  title?: string;
  rawInput?: unknown;
  content?: unknown;
  kind?: string;
  _meta?: Record<string, unknown>;
}
interface Line {
  id?: number;
  method?: string;
  params?: { update: Update; toolCall?: Update };
  result?: never;
  error?: { code: number; message: string };
}
interface ToolRecord {
  name: unknown;
  title: unknown;
  input: unknown;
  kind: unknown;
  statuses: string[];
  output: string;
  isCut: unknown;
}

/** The client's side of an agent's pipes. */
export class Agent {
  readonly child: ChildProcess;
  readonly updates: Update[] = [];
  /** Tool calls that asked for permission, in order; `allow` answers. */
  readonly asked: Update[] = [];
  allow: (toolCall: Update) => boolean = () => true;
  /** Errors that answered none of our requests. */
  readonly strays: { code: number; message: string }[] = [];
  stderr = '';
  sessionId = '';
  readonly #waiting = new Map<number, { resolve: (value: never) => void; reject: (error: Error) => void }>();
  readonly #watchers = new Set<() => void>();
  #lastId = 0;

  constructor(child: ChildProcess) {
    this.child = child;
    child.stderr!.setEncoding('utf8').on('data', (part: string) => {
      this.stderr += part;
    });
    void this.#listen();
  }

  send(line: string): void {
    this.child.stdin!.write(`${line}\n`);
  }

  request<T = Record<string, unknown>>(method: string, params: unknown): Promise<T> {
    const id = ++this.#lastId;
    const answer = new Promise<T>((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
    });
    this.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }));
    return limited(answer, method);
  }

  async open(mcpServers: unknown[] = []): Promise<this> {
    this.sessionId = (
      await this.request<{ sessionId: string }>('session/new', { cwd: '/', mcpServers })
    ).sessionId;
    return this;
  }

  prompt(prompt: string | object[], meta?: object): Promise<{ stopReason: string }> {
    return this.request('session/prompt', {
      sessionId: this.sessionId,
      prompt: typeof prompt === 'string' ? [{ type: 'text', text: prompt }] : prompt,
      ...(meta && { _meta: meta }),
    });
  }

  steer(id: string, prompt: string): Promise<{ taken: boolean }> {
    return this.request('_headrace/steer', { sessionId: this.sessionId, id, prompt });
  }

  get reply(): string {
    return this.#chunks('agent_message_chunk');
  }
  get thoughts(): string {
    return this.#chunks('agent_thought_chunk');
  }

  get calls(): ToolRecord[] {
    const records = new Map<string, ToolRecord>();
    for (const { sessionUpdate, toolCallId = '', status, title, rawInput, content, kind, _meta } of this
      .updates) {
      if (sessionUpdate === 'tool_call')
        records.set(toolCallId, {
          name: _meta?.['headrace/tool'],
          title,
          input: rawInput,
          kind,
          statuses: [status!],
          output: '',
          isCut: undefined,
        });
      if (sessionUpdate !== 'tool_call_update') continue;
      const record = records.get(toolCallId)!;
      record.statuses.push(status!);
      if (content)
        Object.assign(record, {
          output: (content as { content: { text: string } }[])[0]!.content.text,
          isCut: _meta?.['headrace/truncated'],
        });
    }
    return [...records.values()];
  }

  /** Resolves when the agent's output so far meets a condition. */
  until(isMet: () => boolean, what: string): Promise<void> {
    let watcher = (): void => undefined;
    const met = new Promise<void>((resolve) => {
      watcher = () => {
        if (isMet()) resolve();
      };
      this.#watchers.add(watcher);
      watcher();
    });
    return limited(met, what).finally(() => this.#watchers.delete(watcher));
  }

  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<number | null> {
    const { child } = this;
    if (child.exitCode === null && child.signalCode === null) {
      child.kill(signal);
      await limited(once(child, 'exit'), 'the end of the agent');
    }
    return child.exitCode;
  }

  #chunks(kind: string): string {
    return this.updates
      .filter((update) => update.sessionUpdate === kind)
      .map((update) => (update.content as { text: string }).text)
      .join('');
  }

  async #listen(): Promise<void> {
    for await (const line of linesOf(this.child.stdout!)) {
      this.#take(JSON.parse(line) as Line);
      for (const watcher of this.#watchers) watcher();
    }
    for (const { reject } of this.#waiting.values()) reject(new Error(`The agent ended. ${this.stderr}`));
  }

  #take({ id, method, params, result, error }: Line): void {
    if (method === 'session/update') this.updates.push(params!.update);
    else if (method === 'session/request_permission') {
      this.asked.push(params!.toolCall!);
      this.send(
        JSON.stringify({
          jsonrpc: '2.0',
          id,
          result: {
            outcome: { outcome: 'selected', optionId: this.allow(params!.toolCall!) ? 'allow' : 'reject' },
          },
        }),
      );
    } else if (error) {
      if (this.#waiting.has(id!))
        this.#waiting.get(id!)!.reject(Object.assign(new Error(error.message), { code: error.code }));
      else this.strays.push(error);
    } else this.#waiting.get(id!)?.resolve(result!);
  }
}

export async function limited<T>(work: Promise<T>, what: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`waited too long for ${what}`)), LIMIT_MS);
  });
  try {
    return await Promise.race([work, limit]);
  } finally {
    clearTimeout(timer);
  }
}

/** A message that contains its own answers; see checks/harness/model-server. */
export const script = (steps: object[], text = 'Do it.'): string =>
  `${text}\n\`\`\`\`model\n${JSON.stringify(steps)}\n\`\`\`\`\n`;
