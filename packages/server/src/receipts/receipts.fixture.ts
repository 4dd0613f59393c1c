/**
 * For tests: an outside that makes things, an operation that has it make one, and processes of the service
 * that die.
 */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import Type from 'typebox';
import type { Principal } from '../http/principal.ts';
import { ApiError } from '../http/errors.ts';
import { Body, Id, Ok, Text } from '../http/schemas.ts';
import { outsideWrite } from './outside-write.ts';
import type { Effect } from './outside.ts';
import type { WriteRequest } from '../http/write-request.ts';

interface Target extends Record<string, unknown> {
  url: string;
  name: string;
}
interface Thing {
  id: string;
  name: string;
}

export const thingEffect: Effect<Target, Thing> = {
  async act(_ctx, { url, name }, { operationId, signal }) {
    const response = await fetch(`${url}/things`, {
      method: 'POST',
      body: JSON.stringify({ mark: operationId, name }),
      signal,
    });
    if (response.status === 409) throw new ApiError('conflict', 'There is such a thing already.');
    if (response.status === 402) throw new ApiError('payment_required', 'Things cost money.');
    if (!response.ok) throw new Error(`the outside says ${response.status}`);
    return (await response.json()) as Thing;
  },
  async look(_ctx, { url }, { operationId, signal }) {
    const response = await fetch(`${url}/things?mark=${operationId}`, { signal });
    if (response.status === 404) return null;
    if (!response.ok) throw new Error(`the outside says ${response.status}`);
    return (await response.json()) as Thing;
  },
  record: async (_tx, _target, thing) => ({ status: 201, body: { ok: true, thing } }),
};

export const thingOf = (url: string) =>
  outsideWrite({
    name: 'tests.makeThing',
    summary: 'Make a thing outside',
    access: { permissions: ['project:create'] },
    body: Body({ name: Text('n') }),
    responses: { 201: Ok({ thing: Type.Object({ id: Id('prj') }) }) },
    claim: async (_tx, { body }) => ({ target: { url, name: body.name } }),
    effect: thingEffect,
  });
export const effects = { 'tests.makeThing': thingEffect };

export const requestOf = (orgId: string, key: string = randomUUID()): WriteRequest => ({
  principal: principalOf(orgId),
  key,
  fingerprint: digest('one'),
  method: 'POST',
  path: '/api/x',
  projectId: null,
  names: { projectId: null, threadId: null },
  permissions: [],
  requestId: 'req-1',
  direct: true,
});
export const digest = (text: string) => createHash('sha256').update(text).digest();
const principalOf = (orgId: string): Principal => ({
  kind: 'key',
  orgId,
  actorId: 'sa_test',
  accountId: 'sa_test',
  userId: null,
  credentialId: null,
  role: null,
  permissions: new Set(),
  projectIds: null,
  platformApi: true,
});

type Handler = (request: IncomingMessage, response: ServerResponse, make: () => Thing) => void;

export interface Outside {
  url: string;
  /** What it was asked, e.g. `POST`, in order. */
  asked: string[];
  things: Map<string, Thing>;
  /** How the next requests to make and to look are answered; `make` does it. */
  onPost: Handler;
  onGet: Handler;
  close(): Promise<void>;
}

const reply = (response: ServerResponse, status: number, body: unknown) =>
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
export const MAKES: Handler = (_request, response, make) => {
  reply(response, 201, make());
};
export const LOSES_ITS_ANSWER: Handler = (request, _response, make) => {
  make();
  request.socket.destroy();
};
export const IS_AWAY: Handler = (request) => {
  request.socket.destroy();
};
export const answers =
  (status: number): Handler =>
  (_request, response) => {
    reply(response, status, {});
  };

export async function openOutside(): Promise<Outside> {
  const server = createServer((request, response) => {
    void (async () => {
      outside.asked.push(request.method!);
      if (request.method === 'GET')
        return outside.onGet(request, response, () => {
          throw new Error('looking changes nothing');
        });
      let text = '';
      for await (const part of request) text += String(part);
      const { mark, name } = JSON.parse(text) as { mark: string; name: string };
      outside.onPost(request, response, () => {
        const thing = { id: randomUUID(), name };
        outside.things.set(mark, thing);
        return thing;
      });
    })();
  });
  const tells: Handler = (request, response) => {
    const thing = outside.things.get(new URL(request.url!, 'http://x').searchParams.get('mark')!);
    reply(response, thing ? 200 : 404, thing ?? {});
  };
  const outside: Outside = {
    url: '',
    asked: [],
    things: new Map(),
    onPost: MAKES,
    onGet: tells,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve()).closeAllConnections();
      }),
  };
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  outside.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return outside;
}

type Task =
  | { write: { request: WriteRequest; target: Target } }
  | { maintain: true }
  | { once: { request: WriteRequest; dies: 'before the commit' | 'after the commit'; project: string } };

/**
 * A process of its own on the database: `write` makes one thing outside, `maintain` looks after receipts as
 * a worker does, `once` renames a project in one transaction and kills itself. It has the secret key of
 * service.fixture.ts.
 */
export function startProcess(databaseUrl: string, task: Task): ChildProcess {
  return spawn(
    process.execPath,
    [
      '--disable-warning=ExperimentalWarning',
      '--input-type=module-typescript',
      '-e',
      PROCESS,
      JSON.stringify({ databaseUrl, task }),
    ],
    { cwd: import.meta.dirname, stdio: ['ignore', 'inherit', 'inherit'] },
  );
}

const PROCESS = `
  import pino from 'pino';
  import { openBus } from '../bus.ts';
  import { openDatabase } from '../db/database.ts';
  import { effects } from './receipts.fixture.ts';
  import { maintainReceipts } from './maintain.ts';
  import { actOutside } from './outside.ts';
  import { writeOnce } from './receipts.ts';
  import { writeClaimed } from './write-claimed.ts';
  const { databaseUrl, task: { write, once } } = JSON.parse(process.argv[1]);
  const connection = { connectionString: databaseUrl };
  const log = pino({ level: 'silent' });
  const ctx = { db: openDatabase(connection, { max: 4 }).db, bus: await openBus(connection, 'prc_' + process.pid, log), log, secretKey: Buffer.from('test secret of at least 32 characters'), shutdown: new AbortController().signal };
  const name = 'tests.makeThing';
  const revived = ({ request }) => ({ ...request, fingerprint: Buffer.from(request.fingerprint) });
  const die = async () => { process.kill(process.pid, 'SIGKILL'); await new Promise(() => {}); };
  if (once) {
    await writeOnce(ctx, revived(once), async (tx) => {
      await tx.db.updateTable('projects').set((q) => ({ version: q('version', '+', 1) })).where('id', '=', once.project).execute();
      if (once.dies === 'before the commit') await die();
      return { status: 200, body: { ok: true, by: 'the process that died' } };
    });
    await die();
  } else if (!write) maintainReceipts(ctx, effects);
  else {
    await writeClaimed(ctx, revived(write), { mode: 'outside', publishesPending: true, look: { name, target: write.target } }, (claim) => actOutside(ctx, effects[name], write.target, claim));
  }
`;
