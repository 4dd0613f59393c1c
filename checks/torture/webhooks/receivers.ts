/** Receivers of webhooks, each with its own faults. All verify every request with the package `standardwebhooks`. */
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { Webhook } from 'standardwebhooks';
import type { Random } from '../../harness/random.ts';
import type { LoggedEvent } from '../lib/log-table.ts';
import type { Setup } from '../lib/part.ts';

/** A receiver's reaction to a request; `seen`: the number of earlier requests of the same event. */
type Answer = (response: ServerResponse, made: { random: Random; seen: number }) => Promise<void> | void;

interface Kind {
  /** Whether it accepts every event in the end. */
  isLiving: boolean;
  /** Whether every attempt arrives here, which makes the order of first attempts visible. */
  seesAll: boolean;
  answer: Answer;
}

const FAILING = 0.25;
const LATEST_MS = 1_500;

export const KINDS = {
  steady: { isLiving: true, seesAll: true, answer: ok },
  failing: { isLiving: true, seesAll: true, answer: failOften },
  late: {
    isLiving: true,
    seesAll: true,
    answer: (response, { random }) => sleep(random.below(LATEST_MS)).then(() => ok(response)),
  },
  /** Does not respond to some requests, but to their repeats. */
  stalling: {
    isLiving: true,
    seesAll: true,
    answer: (response, { random, seen }) => (seen > 0 || random.next() > 0.05 ? ok(response) : undefined),
  },
  /** Its port is closed for a part of the time. */
  away: { isLiving: true, seesAll: false, answer: ok },
  silent: { isLiving: false, seesAll: true, answer: () => {} },
  closed: { isLiving: false, seesAll: false, answer: ok },
  gone: { isLiving: false, seesAll: false, answer: (response) => void response.writeHead(410).end() },
} satisfies Record<string, Kind>;

export type KindName = keyof typeof KINDS;

function ok(response: ServerResponse): void {
  response.writeHead(204).end();
}

function failOften(response: ServerResponse, { random }: { random: Random }): void {
  if (random.next() > FAILING) return ok(response);
  random.pick([
    () => response.writeHead(500).end('out of order'),
    () => response.writeHead(429, { 'retry-after': '1' }).end(),
    () => response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end(),
    () => response.socket?.destroy(),
    () => {
      response.writeHead(503).flushHeaders();
      response.write('x'.repeat(100_000));
      response.socket?.destroySoon();
    },
  ])();
}

/** The parts of a request that the judge needs. */
export type Arrival = Pick<LoggedEvent, 'id' | 'sequence' | 'type' | 'projectId' | 'threadId' | 'runId'> & {
  /** As JSON. */
  data: string;
};

export interface Receiver {
  name: string;
  kind: KindName;
  subscription: { types: string[]; projectId: string | null };
  subscriptionId: string;
  arrivals: Arrival[];
  /** The distinct events among them. */
  events: Set<string>;
  mostUnderWay: number;
  faults: string[];
  open(): Promise<void>;
  close(): Promise<void>;
}

export interface Planned {
  kind: KindName;
  types: string[];
  projectId: string | null;
}

/** The response to a subscription. */
interface Subscribed {
  subscription: { id: string };
  secret: string;
}

/** Starts receivers and subscribes them: `subscribe` posts a subscription. */
export async function startReceivers(
  setup: Setup,
  planned: readonly Planned[],
  subscribe: (body: object) => Promise<Subscribed>,
): Promise<Receiver[]> {
  const all: Receiver[] = [];
  for (const [n, { kind, ...subscription }] of planned.entries()) {
    const random = setup.random.fork(`receiver ${n}`);
    const made: Made = {
      name: `receiver ${n} (${kind})`,
      kind,
      subscription,
      subscriptionId: '',
      arrivals: [],
      events: new Set(),
      mostUnderWay: 0,
      faults: [],
      random,
      verifier: null,
      underWay: 0,
    };
    const server = serve(made);
    await open(server, 0);
    const { port } = server.address() as { port: number };
    const { subscription: created, secret } = await subscribe({
      url: `http://127.0.0.1:${port}/hook`,
      types: subscription.types,
      ...(subscription.projectId ? { projectId: subscription.projectId } : {}),
    });
    made.subscriptionId = created.id;
    made.verifier = new Webhook(secret);
    const receiver = Object.assign(made, {
      open: () => open(server, port),
      close: () => close(server),
    });
    setup.atEnd(receiver.close);
    if (kind === 'closed') await receiver.close();
    all.push(receiver);
  }
  return all;
}

interface Made extends Omit<Receiver, 'open' | 'close'> {
  random: Random;
  /** Null until it is subscribed. */
  verifier: Webhook | null;
  underWay: number;
}

function serve(made: Made): Server {
  return createServer((request, response) => {
    made.mostUnderWay = Math.max(made.mostUnderWay, ++made.underWay);
    response.once('close', () => made.underWay--);
    response.on('error', () => {});
    // A killed process ends its requests midway: these count as not arrived.
    receive(made, request, response).catch(() => {});
  });
}

async function receive(made: Made, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  const text = Buffer.concat(parts).toString();
  const fault = faultOf(made, request, text);
  if (fault) made.faults.push(`${made.name}: ${fault}: ${text.slice(0, 300)}`);
  const event = JSON.parse(text) as Omit<LoggedEvent, 'sequence'> & { sequence: string };
  const seen = made.events.has(event.id) ? 1 : 0;
  made.events.add(event.id);
  made.arrivals.push({
    id: event.id,
    sequence: Number(event.sequence),
    type: event.type,
    projectId: event.projectId ?? null,
    threadId: event.threadId ?? null,
    runId: event.runId ?? null,
    data: JSON.stringify(event.data),
  });
  await KINDS[made.kind].answer(response, { random: made.random, seen });
}

/** The fault of a request's form; null: none. */
function faultOf({ verifier }: Made, { method, headers }: IncomingMessage, text: string): string | null {
  if (method !== 'POST' || headers['content-type'] !== 'application/json')
    return `${method} with ${headers['content-type']}`;
  if (!/^Headrace\/\d/.test(headers['user-agent'] ?? '')) return `user-agent ${headers['user-agent']}`;
  try {
    const event = verifier!.verify(text, headers as Record<string, string>) as { id: string };
    return event.id === headers['webhook-id'] ? null : `webhook-id ${String(headers['webhook-id'])}`;
  } catch (error) {
    return String(error);
  }
}

/** Listens on a port again, which the kernel may hold for a moment. */
async function open(server: Server, port: number): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, '127.0.0.1', () => {
      server.removeListener('error', reject);
      resolve();
    });
  });
}

async function close(server: Server): Promise<void> {
  const closed = new Promise((resolve) => {
    server.close(resolve);
  });
  server.closeAllConnections();
  await closed;
}
