import type { IncomingMessage } from 'node:http';
import type { Static, TSchema } from 'typebox';
import { Compile, type Validator } from 'typebox/schema';
import { RunnerError } from '../errors.ts';
import { FENCE_HEADER, TASK_REQUESTS } from '../protocol.ts';
import type { Origin, TaskRequest } from '../protocol.ts';

const validators = new Map<TSchema, Validator>();

/**
 * The body, if it matches the schema: 0.1 ms for 64 MiB of evidence or 10,000 paths. The worker is trusted;
 * this finds its mistakes before they become a sandbox. Throws `invalid_request` 400.
 */
export function check<S extends TSchema>(schema: S, body: unknown): Static<S> {
  const validator = validators.get(schema) ?? Compile(schema);
  validators.set(schema, validator);
  if (validator.Check(body)) return body as Static<S>;
  const [fault] = validator.Errors(body)[1];
  const member = fault?.instancePath.slice(1).replaceAll('/', '.') || 'The body';
  throw new RunnerError(400, 'invalid_request', `${member} ${fault?.message ?? 'is invalid'}.`);
}

/** Throws `invalid_request` 400. */
export function checkTaskRequest(body: unknown): TaskRequest {
  const kind = String((body as { kind?: unknown } | null)?.kind);
  if (!Object.hasOwn(TASK_REQUESTS, kind))
    throw new RunnerError(400, 'invalid_request', 'kind is none of turn, exec, build, preview, setup.');
  return check(TASK_REQUESTS[kind as TaskRequest['kind']], body);
}

/** The fence of the request, if it has one. Throws `invalid_request` 400. */
export function fenceOf({
  headers: { [FENCE_HEADER]: text },
}: Pick<IncomingMessage, 'headers'>): number | undefined {
  if (text === undefined) return undefined;
  if (typeof text !== 'string' || !/^\d{1,15}$/.test(text))
    throw new RunnerError(400, 'invalid_request', 'The fence is no number.');
  return Number(text);
}

/** Whether the request has a body: a tree made from kept files alone needs none. */
export const hasTar = (req: IncomingMessage): boolean => req.headers['content-type'] === 'application/x-tar';

/** Which entries of a journal are read: all, or those of the draft. Throws `invalid_request` 400. */
export function onlyOf(query: URLSearchParams): 'draft' | undefined {
  const only = query.get('only') ?? undefined;
  if (only !== undefined && only !== 'draft')
    throw new RunnerError(400, 'invalid_request', 'only must be draft.');
  return only;
}

/** The project that something is kept for. Throws `invalid_request` 400. */
export function groupOf(query: URLSearchParams): string {
  const group = query.get('group');
  if (!group || !/^[\w-]{1,100}$/.test(group))
    throw new RunnerError(400, 'invalid_request', 'group is no id.');
  return group;
}

/**
 * What a tree is made from, apart from the body: `?base=`, or `?keep=` with `&group=`; `&layer=` and
 * `&history=`. Throws `invalid_request` 400.
 */
export function originOf(req: IncomingMessage, query: URLSearchParams): Origin {
  const [base, key, group] = ['base', 'keep', 'group'].map((name) => query.get(name));
  const [layer, history] = ['layer', 'history'].map((name) => query.get(name) ?? undefined);
  for (const id of [base, key, group, layer, history])
    if (id && !/^[\w-]{1,100}$/.test(id))
      throw new RunnerError(400, 'invalid_request', 'base, keep, group, layer or history is no id.');
  if (base) return { base, layer, history };
  if (!hasTar(req))
    throw new RunnerError(400, 'invalid_request', 'The body is no tar, and there is no base.');
  if (Boolean(key) !== Boolean(group)) throw new RunnerError(400, 'invalid_request', 'keep goes with group.');
  return key && group ? { keep: { key, group }, layer, history } : { layer, history };
}
