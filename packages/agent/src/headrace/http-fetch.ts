import { request, type IncomingMessage, type RequestOptions } from 'node:http';
import { LightHeaders } from './light-headers.ts';

/** The part of fetch that the model SDK uses, on node:http. See LightHeaders for why it is not Node's. */
export type Fetch = typeof globalThis.fetch;

/**
 * A fetch for http: URLs; with `socketPath` over that unix socket, whatever host the URL names. Answers
 * stream, and an abort closes the connection. It does not retry or follow redirects. https: URLs go to Node's
 * own fetch.
 */
export function httpFetch(socketPath?: string): Fetch {
  return async (input, init = {}) => {
    const url = new URL(typeof input === 'object' && 'url' in input ? input.url : input);
    if (url.protocol !== 'http:') return fetch(url, init);
    const body = init.body === undefined || init.body === null ? undefined : Buffer.from(init.body as string);
    const headers = Object.fromEntries(new LightHeaders(init.headers as Record<string, string>));
    const signal = init.signal ?? undefined;
    signal?.throwIfAborted();
    const options: RequestOptions = {
      method: init.method ?? 'GET',
      host: url.hostname.replace(/^\[|\]$/g, ''),
      port: url.port || 80,
      path: `${url.pathname}${url.search}`,
      signal,
      agent: false,
      headers: { host: url.host, ...headers, ...(body ? { 'content-length': String(body.length) } : {}) },
      ...(socketPath === undefined ? {} : { socketPath }),
    };
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      request(options, resolve)
        .on('error', (error) =>
          reject(signal?.aborted ? (signal.reason as Error) : connectionFault(error, url)),
        )
        .end(body);
    });
    return responseOf(answer, url) as unknown as Response;
  };
}

/**
 * The peer closed the connection before the answer was complete, so the call's outcome is unknown. A
 * TypeError, as in fetch.
 */
export class ConnectionLost extends TypeError {}

/** With a cause: the SDK recognizes a failed connection by it. */
const connectionFault = (cause: Error, url: URL): ConnectionLost =>
  new ConnectionLost(`no connection to ${url.host}: ${cause.message}`, { cause });

function responseOf(answer: IncomingMessage, url: URL): object {
  const status = answer.statusCode ?? 0;
  const headers = new LightHeaders();
  for (const [name, value] of Object.entries(answer.headers))
    if (value !== undefined) headers.set(name, Array.isArray(value) ? value.join(', ') : value);
  const body = streamOf(answer);
  const bytes = async (): Promise<Buffer> => {
    const parts: Uint8Array[] = [];
    for await (const part of body) parts.push(part);
    return Buffer.concat(parts);
  };
  return {
    status,
    statusText: answer.statusMessage ?? '',
    ok: status >= 200 && status < 300,
    headers,
    body,
    url: url.href,
    redirected: false,
    type: 'basic',
    text: async () => (await bytes()).toString(),
    json: async () => JSON.parse((await bytes()).toString()) as unknown,
    arrayBuffer: async () => {
      const all = await bytes();
      return all.buffer.slice(all.byteOffset, all.byteOffset + all.byteLength);
    },
  };
}

/** Reads on only when the reader wants more; fails where the connection ends before the answer does. */
function streamOf(answer: IncomingMessage): ReadableStream<Uint8Array> {
  let isOver = false;
  const finish = (end: () => void): void => {
    if (!isOver) {
      isOver = true;
      end();
    }
  };
  return new ReadableStream<Uint8Array>({
    start(controller) {
      answer.on('data', (part: Buffer) => {
        if (isOver) return;
        controller.enqueue(new Uint8Array(part));
        if ((controller.desiredSize ?? 1) <= 0) answer.pause();
      });
      answer.once('end', () => finish(() => controller.close()));
      const broken = (cause?: Error): void =>
        finish(() =>
          controller.error(
            new ConnectionLost('the connection was closed before the answer was whole', { cause }),
          ),
        );
      answer.on('error', broken).once('close', () => broken());
    },
    pull() {
      answer.resume();
    },
    cancel() {
      finish(() => answer.destroy());
    },
  });
}
