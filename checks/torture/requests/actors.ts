/**
 * Who asks: a key or a session, as headers; and calls that have to succeed, for what requests need to be
 * there.
 */
import { randomUUID } from 'node:crypto';
import type { Answer, Wire } from './wire.ts';

export type Actor = [name: string, value: string][];

export const OWNER = { email: 'owner@example.test', password: 'a password of the torture' };
export const OWNER_ENV = { HEADRACE_OWNER_EMAIL: OWNER.email, HEADRACE_OWNER_PASSWORD: OWNER.password };
export const PERMISSIONS = {
  project: ['create', 'read', 'update', 'delete'],
  thread: ['create', 'read', 'update', 'delete', 'stop', 'retry'],
  repo: ['read', 'update'],
  mcpServer: ['create', 'read', 'update', 'delete'],
  modelKey: ['read'],
  usage: ['read'],
  webhook: ['create', 'read', 'update', 'delete'],
  automation: ['create', 'read', 'update', 'delete', 'run'],
};

export const byKey = (key: string): Actor => [['x-api-key', key]];
export const byBearer = (key: string): Actor => [['authorization', `Bearer ${key}`]];

// oxlint-disable-next-line typescript/no-explicit-any -- answers are reached into by name; a wrong name fails the part
export type Made = Record<string, any>;

export interface Calls {
  wire: Wire;
  base: string;
  /** The answer's body, and its receipt as `operationId`; throws on any status but 2xx. */
  call(actor: Actor, method: string, target: string, body?: object, key?: string): Promise<Made>;
  /** A session of this user. */
  signIn(who: { email: string; password: string }): Promise<Actor>;
  /** Somebody new in the organization of the actor's session. */
  invite(by: Actor, role: string): Promise<{ actor: Actor; userId: string; email: string; password: string }>;
  /** A service account with a key, by an owner's or admin's session. */
  account(by: Actor, fields?: object): Promise<{ accountId: string; credentialId: string; key: string }>;
  /** A new organization, and a session of its owner in it. */
  tenant(owner: { email: string; password: string }): Promise<{ actor: Actor; organizationId: string }>;
}

export function createCalls(wire: Wire, base: string): Calls {
  async function send(
    actor: Actor,
    method: string,
    target: string,
    body?: object,
    key: string = randomUUID(),
  ): Promise<Answer> {
    const json = body === undefined ? {} : { body: Buffer.from(JSON.stringify(body)) };
    const answer = await wire.send({
      method,
      target,
      headers: [
        ...actor,
        ...(method === 'GET' ? [] : [['idempotency-key', key] as [string, string]]),
        ...(body === undefined ? [] : [['content-type', 'application/json'] as [string, string]]),
      ],
      ...json,
    });
    if (answer.status >= 300 || answer.status < 200 || answer.fault)
      throw new Error(
        `${method} ${target}: ${answer.status} ${answer.fault ?? ''} ${answer.body.toString().slice(0, 500)}`,
      );
    return answer;
  }
  const browser: Actor = [['origin', base]];
  const sessionOf = (answer: Answer): Actor => [
    ['cookie', answer.headers.get('set-cookie')![0]!.split(';')[0]!],
    ...browser,
  ];
  const parsed = (answer: Answer) => JSON.parse(answer.body.toString()) as Made;

  const calls: Calls = {
    wire,
    base,
    async call(...args) {
      const answer = await send(...args);
      return { ...parsed(answer), operationId: answer.headers.get('x-operation-id')?.[0] };
    },
    signIn: async ({ email, password }) =>
      sessionOf(await send(browser, 'POST', '/api/auth/sign-in/email', { email, password })),
    async invite(by, role) {
      const [email, password] = [`${randomUUID()}@example.test`, randomUUID()];
      const { invitation } = await calls.call(by, 'POST', '/api/members', { email, role });
      const answer = await send(
        browser,
        'POST',
        `/api/invitations/${(invitation.url as string).split('/').at(-1)}/accept`,
        { name: 'Kim', password },
      );
      return { actor: sessionOf(answer), userId: parsed(answer).user.id as string, email, password };
    },
    async account(by, fields = {}) {
      const { account, credential, key } = await calls.call(by, 'POST', '/api/service-accounts', {
        name: 'Torture',
        permissions: PERMISSIONS,
        ...fields,
      });
      return { accountId: account.id as string, credentialId: credential.id as string, key: key as string };
    },
    async tenant(owner) {
      const actor = await calls.signIn(owner);
      const { organization } = await calls.call(actor, 'POST', '/api/organizations', { name: 'Tenant' });
      await calls.call(actor, 'PUT', '/api/session/organization', {
        organizationId: organization.id as string,
      });
      return { actor, organizationId: organization.id as string };
    },
  };
  return calls;
}
