import type { IncomingMessage } from 'node:http';
import { RunnerError } from '../errors.ts';
import { FENCE_HEADER } from '../protocol.ts';
import type { CaptureRequest, Origin, OverRequest, TaskRequest } from '../protocol.ts';

/** The longest task: a preview of a day. */
const LONGEST_MS = 24 * 60 * 60 * 1000;

const FIELDS: Record<string, Record<string, 'string' | 'number' | 'object'>> = {
  turn: { workspaceId: 'string', agent: 'object', prompt: 'string', permissions: 'string' },
  exec: { workspaceId: 'string', command: 'string' },
  build: { command: 'string', outputDirectory: 'string' },
  preview: { command: 'string', port: 'number' },
};

/**
 * The worker is trusted; this finds its mistakes before they become a sandbox. Throws `invalid_request`
 * 400.
 */
export function taskRequest(body: unknown): TaskRequest {
  const request = body as Record<string, unknown> | null;
  const fields = FIELDS[String(request?.['kind'])];
  if (!request || !fields)
    throw new RunnerError(400, 'invalid_request', 'kind is none of turn, exec, build, preview.');
  for (const [name, type] of Object.entries({ ...fields, timeoutMs: 'number' })) {
    if (typeof request[name] !== type || request[name] === null)
      throw new RunnerError(400, 'invalid_request', `${name} is not a ${type}.`);
  }
  const agent = request['agent'] as { name?: unknown } | undefined;
  if (agent && !/^[a-z][a-z0-9._-]{0,63}$/.test(String(agent.name)))
    throw new RunnerError(400, 'invalid_request', 'agent.name is no name of a folder.');
  const timeoutMs = request['timeoutMs'] as number;
  if (!(timeoutMs > 0 && timeoutMs <= LONGEST_MS))
    throw new RunnerError(400, 'invalid_request', 'timeoutMs is not between 1 and a day.');
  const egress = request['egress'] ?? [];
  if (!Array.isArray(egress) || egress.some((host) => typeof host !== 'string'))
    throw new RunnerError(400, 'invalid_request', 'egress is no list of host names.');
  return request as unknown as TaskRequest;
}

/** Throws `invalid_request` 400. */
export function captureRequest(body: unknown): CaptureRequest | OverRequest {
  const request = body as Record<string, unknown> | null;
  if (!request) throw new RunnerError(400, 'invalid_request', 'The body is empty.');
  const lists = typeof request['over'] === 'string' ? ['added', 'removed'] : ['basePaths'];
  if (!lists.every((name) => Array.isArray(request[name])))
    throw new RunnerError(400, 'invalid_request', 'basePaths, or over with added and removed, is missing.');
  return request as unknown as CaptureRequest | OverRequest;
}

/** The holder's number, if the request says one. Throws `invalid_request` 400. */
export function fenceOf({ headers: { [FENCE_HEADER]: text } }: IncomingMessage): number | undefined {
  if (text === undefined) return undefined;
  if (typeof text !== 'string' || !/^\d{1,15}$/.test(text))
    throw new RunnerError(400, 'invalid_request', 'The fence is no number.');
  return Number(text);
}

/** A tree that is made from kept files alone has no body. */
export const hasTar = (req: IncomingMessage): boolean => req.headers['content-type'] === 'application/x-tar';

/**
 * What a tree is made of beside the body: `?base=`, or `?keep=` with `&group=`; `&warm=` and `&lock=` with
 * either. Throws `invalid_request` 400.
 */
export function origin(req: IncomingMessage, query: URLSearchParams): Origin {
  const [base, key, group, project] = ['base', 'keep', 'group', 'warm'].map((name) => query.get(name));
  const locks = query.getAll('lock');
  for (const id of [base, key, group, project, ...locks])
    if (id && !/^[\w-]{1,100}$/.test(id))
      throw new RunnerError(400, 'invalid_request', 'base, keep, group, warm or lock is no id.');
  const warm = project ? { group: project, locks } : undefined;
  if (base) return { base, warm };
  if (!hasTar(req))
    throw new RunnerError(400, 'invalid_request', 'The body is no tar, and there is no base.');
  if (Boolean(key) !== Boolean(group)) throw new RunnerError(400, 'invalid_request', 'keep goes with group.');
  return key && group ? { keep: { key, group }, warm } : {};
}
