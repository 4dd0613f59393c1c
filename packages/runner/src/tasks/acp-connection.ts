import type { Readable, Writable } from 'node:stream';
import type { Mask } from '../masking/mask.ts';
import { AcpFault, AgentGone, RpcError } from './acp-fault.ts';
import { linesOf } from './acp-lines.ts';

export interface Params {
  readonly [name: string]: unknown;
}

/**
 * Handles what the agent sends unasked. An error that these throw ends the connection, except an RpcError,
 * which becomes the answer to a request.
 */
export interface AcpHandlers {
  notified(method: string, params: Params): void;
  asked(method: string, params: Params): Promise<object>;
}

interface Pending {
  resolve: (result: Params) => void;
  reject: (error: Error) => void;
  timer: NodeJS.Timeout | undefined;
}

/**
 * Up to this many lines that are not messages are ignored: agents' libraries print a warning now and then.
 */
const STRAY_LINES = 100,
  STRAY_CHARACTERS = 500;
/** Bytes of answers that the agent has not read; above this, nothing more is read from it. */
const UNREAD_BYTES = 1024 ** 2;

/**
 * The client's side of the Agent Client Protocol's wire: JSON-RPC 2.0, one message per line. It replaces the
 * SDK's, which queues without bound what an agent sends or does not read, and prints what it does not
 * understand. Everything here has a limit.
 */
export class AcpConnection {
  readonly #input: Readable;
  readonly #output: Writable;
  readonly #handlers: AcpHandlers;
  readonly #mask: Mask;
  readonly #pending = new Map<number, Pending>();
  #lastId = 0;
  #strays = 0;
  #firstStray = '';
  #fault: Error | undefined;

  constructor(
    { stdout: input, stdin: output }: { stdout: Readable; stdin: Writable },
    handlers: AcpHandlers,
    mask: Mask,
  ) {
    this.#input = input;
    this.#output = output;
    this.#handlers = handlers;
    this.#mask = mask;
    void this.#read();
  }

  /**
   * The agent's answer. Throws RpcError with the agent's error, AcpFault when the connection ends or
   * `withinMs` have passed.
   */
  request(method: string, params: object, withinMs?: number): Promise<Params> {
    if (this.#fault) return Promise.reject(this.#fault);
    const id = ++this.#lastId;
    return new Promise((resolve, reject) => {
      const timer =
        withinMs === undefined
          ? undefined
          : setTimeout(() => {
              this.#pending.delete(id);
              reject(
                new AcpFault(
                  `The agent did not answer ${method} within ${Math.round(withinMs / 1000)} seconds.${this.#strayWords()}`,
                ),
              );
            }, withinMs);
      this.#pending.set(id, { resolve, reject, timer });
      this.#send({ id, method, params });
    });
  }

  /** Rejects everything that waits with this error. Idempotent. */
  close(error: Error): void {
    if (this.#fault) return;
    this.#fault = error;
    for (const { reject, timer } of this.#pending.values()) {
      clearTimeout(timer);
      reject(error);
    }
    this.#pending.clear();
    this.#input.destroy();
  }

  async #read(): Promise<void> {
    try {
      for await (const line of linesOf(this.#input)) {
        if (this.#fault) return;
        this.#receive(line);
        if (this.#output.writableLength > UNREAD_BYTES) await drained(this.#output);
      }
      this.close(new AgentGone(`The agent closed its output.${this.#strayWords()}`));
    } catch (error) {
      this.close(
        error instanceof AcpFault
          ? error
          : new AgentGone(`The agent's output broke off: ${(error as Error).message}`),
      );
    }
  }

  #receive(line: string): void {
    const message = messageOf(line);
    if (!message) {
      if (line.trim() !== '') this.#stray(line);
      return;
    }
    const { id, method } = message;
    const params = isObject(message['params']) ? message['params'] : {};
    if (typeof method !== 'string') this.#answered(message, line);
    else if (id === undefined) this.#handlers.notified(method, params);
    else void this.#answer(id, method, params);
  }

  async #answer(id: unknown, method: string, params: Params): Promise<void> {
    try {
      this.#send({ id, result: await this.#handlers.asked(method, params) });
    } catch (error) {
      if (error instanceof RpcError) this.#send({ id, error: { code: error.code, message: error.message } });
      else this.close(error as Error);
    }
  }

  #answered(message: Params, line: string): void {
    const waiting = this.#pending.get(message['id'] as number);
    if (!waiting) return this.#stray(line);
    this.#pending.delete(message['id'] as number);
    clearTimeout(waiting.timer);
    const { error, result } = message;
    if (isObject(error)) waiting.reject(new RpcError(Number(error['code']), wordsOf(error, this.#mask)));
    else waiting.resolve(isObject(result) ? result : {});
  }

  #stray(line: string): void {
    this.#firstStray ||= this.#mask.text(line).slice(0, STRAY_CHARACTERS);
    if (++this.#strays > STRAY_LINES)
      throw new AcpFault(`The agent does not speak the Agent Client Protocol.${this.#strayWords()}`);
  }

  #strayWords(): string {
    return this.#firstStray && ` It wrote: ${JSON.stringify(this.#firstStray)}`;
  }

  #send(message: object): void {
    if (!this.#output.destroyed) this.#output.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  }
}

export const isObject = (value: unknown): value is Params =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A JSON object that is a request, a notification or an answer; undefined for anything else. */
function messageOf(line: string): Params | undefined {
  if (!/^\s*\{/.test(line)) return undefined;
  try {
    const message = JSON.parse(line) as Params;
    return typeof message['method'] === 'string' ||
      (message['id'] !== undefined && ('result' in message || 'error' in message))
      ? message
      : undefined;
  } catch {
    return undefined;
  }
}

/** Agents often put the real reason into `data`. */
function wordsOf(error: Params, mask: Mask): string {
  const { message, data } = error;
  const details = isObject(data) ? (data['details'] ?? data['message']) : data;
  const words = [message, details].filter((part) => typeof part === 'string' && part !== '').join(': ');
  return mask.text(words).slice(0, 1000) || 'it gave no reason';
}

function drained(output: Writable): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      for (const event of ['drain', 'close', 'error']) output.off(event, done);
      resolve();
    };
    for (const event of ['drain', 'close', 'error']) output.on(event, done);
    if (output.destroyed) done();
  });
}
