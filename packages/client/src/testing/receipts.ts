/** Writes by key: each has one effect, and the same answer to each repetition. */
import type { Operation } from '../generated/types.ts';
import { page } from './call.ts';
import type { Call, Reply } from './call.ts';
import { Fault, invalid, notFound, settles } from './fault.ts';
import type { Receipt, World } from './world.ts';

export interface Answer {
  status: number;
  body: Record<string, unknown>;
  headers: Record<string, string>;
}

const KEY = /^[\x21-\x7e]{1,128}$/;

/** The requested write, how it succeeds, and how a refusal is answered. */
interface Write {
  method: string;
  path: string;
  fingerprint: string;
  status: number;
  perform: () => Record<string, unknown>;
  refuse: (fault: Fault) => Pick<Answer, 'status' | 'body'>;
}

/** Throws refusals that get no receipt. */
export function writeOnce({ world, ids, headers }: Call, write: Write): Answer {
  const key = headers.get('idempotency-key');
  const at = '/headers/idempotency-key';
  if (key === null)
    throw new Fault('idempotency_key_required', 'Send an Idempotency-Key header.', {
      fields: [{ path: at, message: 'is required' }],
    });
  if (!KEY.test(key)) throw invalid({ path: at, message: 'must be 1 to 128 visible ASCII characters' });
  const known = world.receipts.get(key);
  if (known && known.fingerprint !== write.fingerprint)
    throw new Fault('idempotency_conflict', 'This Idempotency-Key was used for another request.');
  const { operation } = known ?? keep(world, ids, key, write);
  const headersOf = { 'x-operation-id': operation.id, ...(known && { 'idempotent-replayed': 'true' }) };
  return { status: operation.responseStatus!, body: operation.response!, headers: headersOf };
}

/** A write is synchronous: nothing comes between it and its receipt. */
function keep(world: World, ids: string[], key: string, write: Write): Receipt {
  const { status, body } = outcomeOf(write);
  const app = body['app'] as { id: string } | undefined;
  const operation: Operation = {
    id: world.id('op'),
    idempotencyKey: key,
    method: write.method,
    path: write.path,
    projectId: ids[0] ?? app?.id ?? null,
    status: status < 300 ? 'succeeded' : 'failed',
    responseStatus: status,
    response: structuredClone(body),
    createdAt: world.now(),
    settledAt: world.now(),
    reservedUntil: null,
  };
  const receipt = { fingerprint: write.fingerprint, operation };
  world.receipts.set(key, receipt);
  return receipt;
}

function outcomeOf({ status, perform, refuse }: Write): Pick<Answer, 'status' | 'body'> {
  try {
    return { status, body: perform() };
  } catch (error) {
    if (!(error instanceof Fault) || !settles(error)) throw error;
    return refuse(error);
  }
}

const operationsOf = ({ world }: Call): Operation[] =>
  [...world.receipts.values()].map(({ operation }) => operation);

export function listOperations(call: Call): Reply {
  const key = call.query.get('idempotencyKey');
  return page(
    'operations',
    operationsOf(call).filter(({ idempotencyKey }) => idempotencyKey === key),
    call,
  );
}

export function getOperation(call: Call): Reply {
  const operation = operationsOf(call).find(({ id }) => id === call.ids[0]);
  if (!operation) throw notFound('operation');
  return { operation };
}
