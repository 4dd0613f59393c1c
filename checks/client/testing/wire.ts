/** Calls with answers that are checked against the document, for the test service and the real one. */
import { randomUUID } from 'node:crypto';
import { readDocument } from '../../torture/requests/document.ts';
import type { Operation } from '../../torture/requests/document.ts';
import { judge } from '../../torture/requests/judge.ts';

export interface Answer {
  status: number;
  headers: Headers;
  // A wrong name fails the test.
  // oxlint-disable-next-line typescript/no-explicit-any
  body: any;
  bytes: Buffer;
}

export interface Wire {
  /** A call with its own key, or with `key`; null: without a key. */
  call(
    method: string,
    path: string,
    body?: unknown,
    options?: { key?: string | null; apiKey?: string; headers?: Record<string, string> },
  ): Promise<Answer>;
  /** An open stream: the frames so far. */
  stream(path: string, headers?: Record<string, string>): Promise<Stream>;
  /** Deviations from the document so far. */
  faults: string[];
}

export interface Frame {
  id?: string;
  event: string;
  // oxlint-disable-next-line typescript/no-explicit-any
  data: any;
}
export interface Stream {
  /** Resolves with the frames once they satisfy `isEnough`, or the stream has ended. */
  until(isEnough: (frames: Frame[]) => boolean): Promise<Frame[]>;
  close(): Promise<void>;
}

export interface Target {
  base: string;
  key: string;
  fetch: typeof fetch;
}

const document = readDocument();
const patterns = document.operations.map((operation) => ({
  operation,
  pattern: new RegExp(`^${operation.path.replaceAll(/\{\w+\}/g, '[^/]+')}$`),
}));
const operationOf = (method: string, path: string): Operation | null =>
  patterns.find((one) => one.operation.method === method && one.pattern.test(path))?.operation ?? null;

export function openWire({ base, key: apiKey, fetch }: Target): Wire {
  const faults: string[] = [];
  const check = (method: string, path: string, { status, headers }: Response, body: Buffer) => {
    const operation = operationOf(method, path.split('?')[0]!);
    const all = new Map([...headers].map(([name, value]): [string, string[]] => [name, [value]]));
    const found = judge(document, operation, { status, headers: all, body }, method);
    faults.push(...found.map((fault) => `${method} ${path}: ${fault}`));
  };
  return {
    faults,
    async call(method, path, body, options = {}) {
      const headers: Record<string, string> = { 'x-api-key': options.apiKey ?? apiKey, ...options.headers };
      if (method !== 'GET' && options.key !== null) headers['idempotency-key'] = options.key ?? randomUUID();
      if (body !== undefined) headers['content-type'] = 'application/json';
      const init = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
      const response = await fetch(base + path, init);
      const bytes = Buffer.from(await response.arrayBuffer());
      check(method, path, response, bytes);
      const isJson = response.headers.get('content-type')?.includes('json');
      const answer = isJson ? (JSON.parse(bytes.toString()) as unknown) : undefined;
      return { status: response.status, headers: response.headers, body: answer, bytes };
    },
    async stream(path, headers = {}) {
      const response = await fetch(base + path, { headers: { 'x-api-key': apiKey, ...headers } });
      const reader = response.body!.getReader();
      const chunks: Uint8Array[] = [];
      const frames = () => framesOf(Buffer.concat(chunks).toString());
      return {
        async until(isEnough) {
          while (!isEnough(frames())) {
            const { done, value } = await reader.read();
            if (done) break;
            chunks.push(value);
          }
          check('GET', path, response, Buffer.concat(chunks));
          return frames();
        },
        close: () => reader.cancel(),
      };
    },
  };
}

const framesOf = (text: string): Frame[] =>
  text
    .split('\n\n')
    .slice(0, -1)
    .map((frame) => {
      const member = (name: string) =>
        frame
          .split('\n')
          .find((line) => line.startsWith(`${name}: `))
          ?.slice(name.length + 2);
      const id = member('id');
      return {
        ...(id === undefined ? {} : { id }),
        event: member('event')!,
        data: JSON.parse(member('data')!),
      };
    });
