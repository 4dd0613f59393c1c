import { Webhook } from 'standardwebhooks';
import { expect, test } from 'vitest';
import { verifyWebhook, WebhookError } from './webhooks.ts';
import type { VerifyOptions, WebhookHeaders } from './webhooks.ts';

const secretOf = (fill: number) => `whsec_${Buffer.alloc(32, fill).toString('base64')}`;
const [OURS, OTHER] = [secretOf(7), secretOf(8)];
const EVENT = {
  id: 'evt_1',
  type: 'thread.updated',
  sequence: '42',
  orgId: 'org_1',
  projectId: 'prj_1',
  threadId: 'thr_1',
  runId: null,
  data: { id: 'thr_1', title: 'Zoë 🌱' },
  occurredAt: '2026-01-02T08:00:00.000Z',
  publishedAt: '2026-01-02T08:00:00.010Z',
  cursor: 'c',
};
const BODY = JSON.stringify(EVENT);
const AT = new Date('2026-01-02T08:00:01.900Z');
const NOW: VerifyOptions = { now: AT };

/** Signed by the package. */
const signed = (secret = OURS, { at = AT, id = 'evt_1', body = BODY } = {}) => ({
  'webhook-id': id,
  'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
  'webhook-signature': new Webhook(secret).sign(id, at, body),
});

async function fault(...args: Parameters<typeof verifyWebhook>): Promise<string> {
  const error = await verifyWebhook(...args).catch((e: unknown) => e);
  expect(error).toBeInstanceOf(WebhookError);
  return (error as WebhookError).reason;
}

test.each<[name: string, headers: WebhookHeaders]>([
  ['a plain object', signed()],
  ['Headers', new Headers(signed())],
  ['a Map', new Map(Object.entries(signed()))],
  ['names in any case', Object.fromEntries(Object.entries(signed()).map(([k, v]) => [k.toUpperCase(), v]))],
  ['lists of values', Object.fromEntries(Object.entries(signed()).map(([k, v]) => [k, [v]]))],
  ['other headers', { ...signed(), host: 'x', cookie: undefined }],
])("the package's signature is accepted in %s", async (_, headers) => {
  expect(await verifyWebhook(OURS, headers, BODY, NOW)).toEqual(EVENT);
});

test('the body may be text or bytes, and nothing that was parsed', async () => {
  const bytes = new TextEncoder().encode(BODY);
  for (const body of [bytes, Buffer.from(BODY), bytes.buffer])
    expect(await verifyWebhook(OURS, signed(), body, NOW)).toEqual(EVENT);
  const padded = Buffer.from(`xx${BODY}`).subarray(2);
  expect(await verifyWebhook(OURS, signed(), padded, NOW)).toEqual(EVENT);
  await expect(verifyWebhook(OURS, signed(), EVENT as never, NOW)).rejects.toThrow(TypeError);
});

test('during a rotation, one of several secrets and one of several signatures suffice', async () => {
  const both = `${signed(OTHER)['webhook-signature']} v1a,AAAA v1,??? ${signed()['webhook-signature']}`;
  const headers = { ...signed(), 'webhook-signature': both };
  expect(await verifyWebhook(OURS, headers, BODY, NOW)).toEqual(EVENT);
  expect(await verifyWebhook([OTHER, OURS], signed(), BODY, NOW)).toEqual(EVENT);
  expect(await fault([OTHER, secretOf(9)], signed(), BODY, NOW)).toBe('invalid_signature');
  expect(await fault([], signed(), BODY, NOW)).toBe('invalid_signature');
});

test('a signature of anything else is refused', async () => {
  expect(await fault(OTHER, signed(), BODY, NOW)).toBe('invalid_signature');
  expect(await fault(OURS, signed(), `${BODY} `, NOW)).toBe('invalid_signature');
  expect(await fault(OURS, { ...signed(), 'webhook-id': 'evt_2' }, BODY, NOW)).toBe('invalid_signature');
  const later = { ...signed(), 'webhook-timestamp': String(Number(signed()['webhook-timestamp']) + 1) };
  expect(await fault(OURS, later, BODY, NOW)).toBe('invalid_signature');
  const given = signed()['webhook-signature'];
  for (const signature of [
    'v1,',
    'v1',
    given.slice(3),
    given.replace('v1,', 'v2,'),
    given.slice(0, 20),
    `${given}AAAA`,
  ])
    expect(await fault(OURS, { ...signed(), 'webhook-signature': signature }, BODY, NOW)).toBe(
      'invalid_signature',
    );
});

test('the time may differ by the tolerance, to the second', async () => {
  const at = (seconds: number) => ({ now: new Date(AT.getTime() + seconds * 1000) });
  for (const seconds of [-300, 300])
    expect(await verifyWebhook(OURS, signed(), BODY, at(seconds))).toEqual(EVENT);
  expect(await fault(OURS, signed(), BODY, at(301))).toBe('too_old');
  expect(await fault(OURS, signed(), BODY, at(-301))).toBe('too_new');
  expect(await fault(OURS, signed(), BODY, { ...at(11), toleranceSeconds: 10 })).toBe('too_old');
  expect(await fault(OURS, signed(), BODY)).toMatch(/^too_/);
  const current = signed(OURS, { at: new Date() });
  expect(await verifyWebhook(OURS, current, BODY)).toEqual(EVENT);
});

test('each kind of invalid delivery has its own reason', async () => {
  for (const name of ['webhook-id', 'webhook-timestamp', 'webhook-signature'])
    expect(await fault(OURS, { ...signed(), [name]: undefined }, BODY, NOW)).toBe('missing_header');
  expect(await fault(OURS, {}, BODY, NOW)).toBe('missing_header');
  for (const time of ['soon', '-1', '1e9', '17.5', ' 17', '9'.repeat(13)])
    expect(await fault(OURS, { ...signed(), 'webhook-timestamp': time }, BODY, NOW)).toBe(
      'invalid_timestamp',
    );
  for (const body of ['', 'null', '[]', '{"id":"x"}', '{"id":1,"type":"x"}', 'hello'])
    expect(await fault(OURS, signed(OURS, { body }), body, NOW)).toBe('invalid_payload');
});

test('a secret that is none is a mistake of the receiver', async () => {
  for (const secret of ['', 'whsec_', 'whsec_!', undefined as never])
    await expect(verifyWebhook(secret, signed(), BODY, NOW)).rejects.toThrow(TypeError);
});

test('a tolerance that is not a number is refused: nothing would be too old', async () => {
  for (const options of [{ toleranceSeconds: Number.NaN }, { toleranceSeconds: -1 }, { now: new Date('x') }])
    await expect(verifyWebhook(OURS, signed(), BODY, { ...NOW, ...options })).rejects.toThrow(TypeError);
});

test('more signatures than a rotation has are not computed', async () => {
  const [ours, other] = [signed()['webhook-signature'], signed(OTHER)['webhook-signature']];
  const headers = (others: number) => ({
    ...signed(),
    'webhook-signature': `${`${other} `.repeat(others)}${ours}`,
  });
  expect(await verifyWebhook(OURS, headers(9), BODY, NOW)).toEqual(EVENT);
  expect(await fault(OURS, headers(10), BODY, NOW)).toBe('invalid_signature');
});

test('the package accepts the same deliveries', async () => {
  const headers = signed(OURS, { at: new Date() });
  expect(new Webhook(OURS).verify(BODY, headers)).toEqual(await verifyWebhook(OURS, headers, BODY));
});
