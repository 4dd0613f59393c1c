/**
 * A proxy between a browser and the service that breaks connections on purpose: a plan, asked at each request, says how.
 * It forwards the Host header, so for the service the page and its requests have one origin.
 */
import { createServer, request as send } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

export interface Asked {
  method: string;
  /** With the query. */
  path: string;
  isStream: boolean;
  /** Of a write. */
  key: string | undefined;
  /** By `performance.now`. */
  at: number;
}

export type Fault =
  /** The error that the service itself answers with this status and code. */
  | { kind: 'answer'; status: number; code: string; retryAfterSeconds?: number; field?: string }
  /** The page of something between the browser and the service. */
  | { kind: 'page'; status: number }
  /** The connection ends after this many bytes of the answer's body: most often within a frame. */
  | { kind: 'cut'; after: number }
  /** After this many bytes, nothing comes any more; the connection stays open until `release`. */
  | { kind: 'stall'; after: number }
  /** The answer begins this much later. */
  | { kind: 'delay'; ms: number }
  /** The service is asked once this has ended. */
  | { kind: 'after'; until: () => Promise<unknown> }
  /** The last frames of this feed's former stream come again first. */
  | { kind: 'repeat' }
  /** The connection ends without an answer. */
  | { kind: 'refuse' };

export interface Proxy {
  base: string;
  /** Replaces the plan. */
  plan(next: (asked: Asked) => Fault | null): void;
  /** Streams that are open now, and the most there were at a time. */
  streams(): { open: number; most: number };
  /** What was asked since the start, or since the last `forget`. */
  asked(): readonly Asked[];
  forget(): void;
  /** Ends open streams at once. */
  cutStreams(): void;
  /** Ends all connections and takes no new ones until called with false. */
  goAway(isAway: boolean): void;
  /** Stalled connections end. */
  release(): void;
  close(): Promise<void>;
}

/** How many frames `repeat` sends again. */
const REPEATED_FRAMES = 3;

export async function startProxy(target: string): Promise<Proxy> {
  const upstream = new URL(target);
  const sockets = new Set<Socket>();
  const streams = new Set<ServerResponse>();
  const stalled = new Set<ServerResponse>();
  const lastFrames = new Map<string, string[]>();
  let plan: (asked: Asked) => Fault | null = () => null;
  let asked: Asked[] = [];
  let [isAway, most] = [false, 0];

  const server = createServer((incoming, outgoing) => {
    const now = askedOf(incoming);
    asked.push(now);
    const fault = plan(now);
    if (now.isStream) {
      streams.add(outgoing);
      most = Math.max(most, streams.size);
      outgoing.once('close', () => streams.delete(outgoing));
    }
    if (fault?.kind === 'refuse') outgoing.destroy();
    else if (fault?.kind === 'answer') refuse(incoming, outgoing, fault);
    else if (fault?.kind === 'page') showPage(incoming, outgoing, fault.status);
    else if (fault?.kind === 'delay') setTimeout(() => forward(incoming, outgoing, null), fault.ms);
    else if (fault?.kind === 'after')
      fault.until().then(
        () => forward(incoming, outgoing, null),
        () => outgoing.destroy(),
      );
    else forward(incoming, outgoing, fault);
  });
  server.on('connection', (socket) => {
    if (isAway) socket.destroy();
    sockets.add(socket);
    socket.setNoDelay(true).once('close', () => sockets.delete(socket));
  });

  function forward(incoming: IncomingMessage, outgoing: ServerResponse, fault: Fault | null): void {
    const { method, url, headers } = incoming;
    const passed = send(
      { host: upstream.hostname, port: upstream.port, method, path: url, headers },
      (answer) => {
        outgoing.writeHead(answer.statusCode!, answer.headers);
        outgoing.flushHeaders();
        const frames = /\/events\/stream/.test(url!) && answer.statusCode === 200 ? framesOf(url!) : null;
        if (frames && fault?.kind === 'repeat') outgoing.write(frames.former());
        let left = fault?.kind === 'cut' || fault?.kind === 'stall' ? fault.after : Infinity;
        const cut = () => {
          if (left === 0 && fault?.kind === 'cut') outgoing.destroy();
        };
        const stall = () => {
          if (left === 0 && fault?.kind === 'stall') stalled.add(outgoing);
        };
        // Without a byte to pass, no write below would do it.
        cut();
        stall();
        answer.on('data', (part: Buffer) => {
          if (left === 0) return;
          const passing = part.subarray(0, left);
          left -= passing.length;
          frames?.saw(passing.toString());
          // What was passed goes out first.
          const hasRoom = outgoing.write(passing, cut);
          stall();
          if (hasRoom) return;
          answer.pause();
          outgoing.once('drain', () => answer.resume());
        });
        answer.once('end', () => {
          if (!stalled.has(outgoing)) outgoing.end();
        });
        answer.once('aborted', () => outgoing.destroy());
      },
    );
    passed.once('error', () => outgoing.destroy());
    outgoing.once('close', () => passed.destroy());
    incoming.pipe(passed);
  }

  /** Remembers the last frames with an id, by the feed and its filter. */
  function framesOf(url: string): { former(): string; saw(text: string): void } {
    const key = url.replace(/([?&])cursor=[^&]*/, '$1');
    const kept = lastFrames.get(key) ?? [];
    lastFrames.set(key, kept);
    let rest = '';
    return {
      former: () => kept.join(''),
      saw(text) {
        const frames = (rest + text).split(/(?<=\n\n)/);
        rest = frames.at(-1)!.endsWith('\n\n') ? '' : frames.pop()!;
        kept.push(...frames.filter((frame) => /^id:/m.test(frame) && !/^event: heartbeat/m.test(frame)));
        kept.splice(0, kept.length - REPEATED_FRAMES);
      },
    };
  }

  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    base: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    plan(next) {
      plan = next;
    },
    streams: () => ({ open: streams.size, most }),
    asked: () => asked,
    forget() {
      [asked, most] = [[], streams.size];
    },
    cutStreams() {
      for (const stream of streams) stream.destroy();
    },
    goAway(next) {
      isAway = next;
      if (isAway) for (const socket of sockets) socket.destroy();
    },
    release() {
      for (const outgoing of stalled) outgoing.destroy();
      stalled.clear();
    },
    async close() {
      const closed = new Promise((resolve) => {
        server.close(resolve);
      });
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

function askedOf({ method, url, headers }: IncomingMessage): Asked {
  return {
    method: method!,
    path: url!,
    isStream: /\/events\/stream(\?|$)/.test(url!),
    key: headers['idempotency-key'] as string | undefined,
    at: performance.now(),
  };
}

function refuse(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  { status, code, retryAfterSeconds, field }: Fault & { kind: 'answer' },
): void {
  const body = {
    ok: false,
    error: {
      code,
      message: `The test answers with ${status}.`,
      requestId: 'req_of_the_test',
      ...(field !== undefined && { fields: [{ path: field, message: 'is not what the test wants' }] }),
    },
  };
  incoming.resume().once('end', () => {
    outgoing.writeHead(status, {
      'content-type': 'application/json; charset=utf-8',
      // As the service does: a browser would keep a 410 for ever.
      'cache-control': 'no-store',
      'x-request-id': body.error.requestId,
      ...(retryAfterSeconds !== undefined && { 'retry-after': String(retryAfterSeconds) }),
    });
    outgoing.end(JSON.stringify(body));
  });
}

function showPage(incoming: IncomingMessage, outgoing: ServerResponse, status: number): void {
  incoming.resume().once('end', () => {
    outgoing.writeHead(status, { 'content-type': 'text/html', 'cache-control': 'no-store' });
    outgoing.end(`<!doctype html><title>${status}</title><h1>Bad gateway</h1>`);
  });
}
