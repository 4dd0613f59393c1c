/** What a retry has to send to get a replay, and who gets one. */
import { randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newAccount, signedIn, tenant } from '../accounts/callers.fixture.ts';
import { startTestServer } from '../service.fixture.ts';
import type { TestAnswer, TestServer } from '../service.fixture.ts';

const P = '/api/platform/v1';
let s: TestServer;
let cookie: string;
beforeAll(async () => {
  s = await startTestServer({ HEADRACE_ROLES: 'api' });
  cookie = await signedIn(s);
});
afterAll(async () => {
  await s?.close();
});

const receiptOf = (answer: TestAnswer) => answer.headers.get('x-operation-id');
const isReplay = (answer: TestAnswer) => answer.headers.get('idempotent-replayed') === 'true';
const code = (answer: TestAnswer) => `${answer.status} ${answer.body?.error?.code ?? ''}`.trim();
const newApp = async () => (await s.call('POST', `${P}/apps`, { name: 'n' })).body.app.id as string;

/**
 * The same JSON value, written otherwise: `dice` decides on the order of keys, on white space and on
 * escapes.
 */
function rewritten(value: unknown, dice: () => number): string {
  const space = () => ['', ' ', '\n\t', '\r\n  '][Math.floor(dice() * 4)]!;
  const text = (t: string) =>
    `"${[
      ...JSON.stringify(t)
        .slice(1, -1)
        .matchAll(/\\u[0-9a-f]{4}|\\.|[\s\S]/gu),
    ]
      .map(([c]) =>
        c.length === 1 && dice() < 0.2 ? `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}` : c,
      )
      .join('')}"`;
  if (typeof value === 'string') return text(value);
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map((v) => space() + rewritten(v, dice) + space()).join(',')}]`;
  const entries = Object.entries(value)
    .map((entry) => ({ entry, at: dice() }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ entry }) => entry);
  return `{${entries.map(([key, v]) => `${space()}${text(key)}${space()}:${space()}${rewritten(v, dice)}${space()}`).join(',')}}`;
}

describe('the payload', () => {
  const word = fc
    .string({ unit: 'grapheme', minLength: 1, maxLength: 12 })
    .filter((t) => t.isWellFormed() && !t.includes('\0'));
  const body = fc
    .record(
      {
        name: word,
        externalId: fc.option(fc.uuid(), { nil: undefined }),
        metadata: fc.dictionary(word, word, { maxKeys: 6 }),
      },
      { requiredKeys: ['name'] },
    )
    .map((value) => JSON.parse(JSON.stringify(value)) as { name: string });

  test('is a JSON value: order of keys, white space and escapes are no other one, and every replay is the first answer', async () => {
    await fc.assert(
      fc.asyncProperty(body, fc.nat(), async (value, seed) => {
        // A small congruential generator: shrinking a stream of numbers takes half a minute.
        let state = seed;
        const dice = () => (state = (state * 1_103_515_245 + 12_345) % 2 ** 31) / 2 ** 31;
        const idem = randomUUID();
        const first = await s.call('POST', `${P}/apps`, rewritten(value, dice), { idem });
        expect([first.status, first.body.app?.name]).toEqual([201, value.name]);
        for (const text of [JSON.stringify(value), rewritten(value, dice), ` ${rewritten(value, dice)}\n`]) {
          const again = await s.call('POST', `${P}/apps`, text, { idem });
          expect([again.status, again.text, receiptOf(again), isReplay(again)]).toEqual([
            201,
            first.text,
            receiptOf(first),
            true,
          ]);
        }
        const changed = { ...value, name: `${value.name}x` };
        expect(code(await s.call('POST', `${P}/apps`, rewritten(changed, dice), { idem }))).toBe(
          '409 idempotency_conflict',
        );
      }),
      { numRuns: 25 },
    );
  });

  test('of an import: JSON as a value, gzip by its bytes', async () => {
    const app = await newApp();
    const send = (idem: string, body: unknown, headers = {}) =>
      s.call('POST', `${P}/apps/${app}/sources`, body, { idem, headers });
    const json = randomUUID();
    const first = await send(
      json,
      '{"files":[{"path":"a","content":"\\u0061"},{"path":"b","content":"b"}],"message":"m"}',
    );
    expect(
      (await send(json, ' {"message":"m", "files":[{"content":"a","path":"a"},{"content":"b","path":"b"}]}'))
        .text,
    ).toBe(first.text);
    expect(
      code(
        await send(json, '{"files":[{"path":"b","content":"b"},{"path":"a","content":"a"}],"message":"m"}'),
      ),
    ).toBe('409 idempotency_conflict');
    const gzip = randomUUID();
    const empty = Buffer.alloc(1024);
    const type = { 'content-type': 'application/gzip' };
    const packed = await send(gzip, gzipSync(empty, { level: 9 }), type);
    expect([packed.status, (await send(gzip, gzipSync(empty, { level: 9 }), type)).text]).toEqual([
      201,
      packed.text,
    ]);
    expect(code(await send(gzip, gzipSync(empty, { level: 0 }), type))).toBe('409 idempotency_conflict');
  });

  test('has the query and both forms of the path in it', async () => {
    const app = await newApp();
    const idem = randomUUID();
    const type = { 'content-type': 'application/gzip' };
    const send = (form: string, message: string) =>
      s.call('POST', `${P}/${form}/${app}/sources?message=${message}`, gzipSync(Buffer.alloc(1024)), {
        idem,
        headers: type,
      });
    const first = await send('apps', 'one');
    expect([(await send('projects', 'one')).text, code(await send('apps', 'two'))]).toEqual([
      first.text,
      '409 idempotency_conflict',
    ]);
  });
});

describe('who gets it', () => {
  const asRead = { project: ['read'], thread: ['read'] };
  const asAll = {
    project: ['create', 'read', 'update', 'delete'],
    thread: ['create', 'read', 'update', 'delete'],
  };

  test('a key that lost the permission is refused as if for the first time; given back, it gets the replay', async () => {
    const { account, key } = await newAccount(s, cookie, { permissions: asAll });
    const project = (await s.call('POST', '/api/projects', { name: 'n' }, { key })).body.project.id as string;
    const idem = randomUUID();
    const send = () => s.call('PATCH', `/api/projects/${project}`, { name: 'x' }, { key, idem });
    const first = await send();
    const allow = (permissions: object) =>
      s.call('PATCH', `/api/service-accounts/${account.id}`, { permissions }, { cookie });
    await allow(asRead);
    expect(code(await send())).toBe('401 unauthorized');
    await allow(asAll);
    expect([(await send()).text, isReplay(await send())]).toEqual([first.text, true]);
  });

  test('a key that lost the project: 403 on the Platform API, 404 on the Direct one, also where the path does not name it', async () => {
    const { account, key } = await newAccount(s, cookie, { permissions: asAll });
    const app = (await s.call('POST', `${P}/apps`, { name: 'n' }, { key })).body.app.id as string;
    const project = (await s.call('POST', '/api/projects', { name: 'n' }, { key })).body.project.id as string;
    const thread = (await s.call('POST', '/api/threads', { projectId: project }, { key })).body.thread
      .id as string;
    const writes = [
      ['PATCH', `${P}/apps/${app}`, { name: 'x' }, '403 forbidden'],
      ['PATCH', `/api/projects/${project}`, { name: 'x' }, '404 project_not_found'],
      ['POST', '/api/threads', { projectId: project, title: 'x' }, '404 project_not_found'],
      ['PATCH', `/api/threads/${thread}`, { title: 'x' }, '404 thread_not_found'],
    ] as const;
    const idem = randomUUID();
    const send = ([method, path, body]: (typeof writes)[number]) =>
      s.call(method, path, body, { key, idem: `${idem} ${method} ${path}`.replaceAll(' ', '~') });
    const firsts = await Promise.all(writes.map(send));
    expect(firsts.map((a) => a.status)).toEqual([200, 200, 201, 200]);
    const restrict = (projectIds: string[] | null) =>
      s.call('PATCH', `/api/service-accounts/${account.id}`, { projectIds }, { cookie });
    await restrict([await newApp()]);
    expect((await Promise.all(writes.map(send))).map(code)).toEqual(writes.map(([, , , refusal]) => refusal));
    expect(
      code(
        await s.call(
          'PATCH',
          `/api/threads/${thread}`,
          { title: 'other' },
          { key, idem: `${idem}~PATCH~/api/threads/${thread}` },
        ),
      ),
    ).toBe('409 idempotency_conflict');
    await restrict(null);
    expect((await Promise.all(writes.map(send))).map((a) => a.text)).toEqual(firsts.map((a) => a.text));
  });

  test('an organization that lost the Platform API: 403', async () => {
    const far = await tenant(s);
    const { key } = await newAccount(s, far.cookie);
    const idem = randomUUID();
    const send = () => s.call('POST', `${P}/apps`, { name: 'n' }, { key, idem });
    const first = await send();
    const entitle = (value: boolean) =>
      sql`update organizations set platform_api = ${value} where id = ${far.organization.id}`
        .execute(s.service.ctx.db)
        .then(() => s.service.ctx.bus.notify('accounts', far.organization.id));
    await entitle(false);
    await expect.poll(async () => code(await send()), { timeout: 5_000 }).toBe('403 forbidden');
    await entitle(true);
    await expect.poll(async () => (await send()).text, { timeout: 5_000 }).toBe(first.text);
  });

  test("a message's clientMessageId, also inside a thread's creation, equals the key", async () => {
    const project = (await s.call('POST', '/api/projects', { name: 'n' })).body.project.id as string;
    const create = (clientMessageId: string, idem: string) =>
      s.call(
        'POST',
        '/api/threads',
        { projectId: project, message: { content: 'Hello.', clientMessageId } },
        { idem },
      );
    const idem = randomUUID();
    const refused = await create('other', idem);
    expect([code(refused), refused.body.error.fields]).toEqual([
      '400 invalid_request',
      [{ path: '/message/clientMessageId', message: expect.any(String) }],
    ]);
    const first = await create(idem, idem);
    expect([first.status, (await create(idem, idem)).text]).toEqual([201, first.text]);
  });

  test('two accounts, two organizations and two users may use one key, each for itself', async () => {
    const idem = randomUUID();
    const far = await tenant(s);
    const callers = [
      { key: s.key },
      { cookie },
      { key: (await newAccount(s, cookie)).key as string },
      { key: (await newAccount(s, far.cookie)).key as string },
      { cookie: far.cookie },
    ];
    const made = [];
    for (const caller of callers)
      made.push(await s.call('POST', '/api/projects', { name: randomUUID() }, { ...caller, idem }));
    expect([
      made.map((a) => `${a.status} ${isReplay(a)}`),
      new Set(made.map((a) => a.body.project.id)).size,
    ]).toEqual([callers.map(() => '201 false'), callers.length]);
  });
});
