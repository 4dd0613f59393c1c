import { createHmac, randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import { describe, expect, test } from 'vitest';
import { newSigningSecret } from '../signing-secrets.ts';
import { isAuthentic } from './hook-signature.ts';

const secret = newSigningSecret();
const own = 'a secret of the sender';
const body = JSON.stringify({ a: 'ü', n: 1 });
const receivedAt = new Date();
const seconds = (ms = 0) => String(Math.floor((receivedAt.getTime() + ms) / 1000));
const hex = (key: string, text = body) => createHmac('sha256', key).update(text).digest('hex');

/** As the reference implementation signs. */
function signed({ by = secret, id = 'msg_1', ms = 0, text = body } = {}) {
  const at = new Date(receivedAt.getTime() + ms);
  return {
    'webhook-id': id,
    'webhook-timestamp': seconds(ms),
    'webhook-signature': new Webhook(by).sign(id, at, text),
  };
}
const isTaken = (headers: Record<string, string>, secrets = [secret], text = body) =>
  isAuthentic(secrets, 'a decoy', { headers, bytes: Buffer.from(text), receivedAt });

describe('authentic', () => {
  const several = `v1,${randomBytes(32).toString('base64')} v1a,x ${signed()['webhook-signature']} v2,y`;
  test.each<[string, Record<string, string>, string[]?]>([
    ['a signature', signed()],
    ['one of several signatures', { ...signed(), 'webhook-signature': several }],
    ['an older signature', signed({ ms: -299_000 })],
    ['a signature of a clock that goes ahead', signed({ ms: 299_000 })],
    ['a signature by a former secret', signed(), [newSigningSecret(), secret]],
    ["a signature by a sender's own secret", signed({ by: Buffer.from(own).toString('base64') }), [own]],
    ['a bearer', { authorization: `Bearer ${secret}` }],
    ['a bearer in small letters', { authorization: `bearer  ${own}` }, [own]],
    [
      'a bearer in UTF-8',
      { authorization: `Bearer ${Buffer.from('geheimnisvöll').toString('latin1')}` },
      ['geheimnisvöll'],
    ],
    ['Sentry', { 'sentry-hook-signature': hex(own) }, [own]],
    ['Linear', { 'linear-signature': hex(own).toUpperCase() }, [own]],
    ['GitHub', { 'x-hub-signature-256': `sha256=${hex(own)}` }, [own]],
    ['a hex by a made secret, whose text is the key', { 'linear-signature': hex(secret) }],
  ])('is %s', (_, headers, secrets) => expect(isTaken(headers, secrets)).toBe(true));

  test.each<[string, Record<string, string>, string[]?]>([
    ['nothing', {}],
    ['a stale signature', signed({ ms: -302_000 })],
    ['a signature of the future', signed({ ms: 302_000 })],
    ['a signature under another id', { ...signed(), 'webhook-id': 'msg_2' }],
    ['a signature under another time', { ...signed(), 'webhook-timestamp': seconds(-1000) }],
    ['a signature of another body', signed({ text: '{}' })],
    ["another secret's signature", signed({ by: newSigningSecret() })],
    [
      'a signature without its version',
      { ...signed(), 'webhook-signature': signed()['webhook-signature'].slice(3) },
    ],
    [
      'a signature of another version',
      { ...signed(), 'webhook-signature': `v2${signed()['webhook-signature'].slice(2)}` },
    ],
    ['a signature without an id', signed({ id: '' })],
    ['a time that is none', { ...signed(), 'webhook-timestamp': `${seconds()}.0` }],
    ['an empty bearer', { authorization: 'Bearer ' }],
    ['what is compared where there is no secret', { authorization: 'Bearer a decoy' }, []],
    ['what is compared where there is one', { authorization: 'Bearer a decoy' }],
    ['a longer bearer', { authorization: `Bearer ${secret}x` }],
    ['another scheme', { authorization: `Basic ${secret}` }],
    ['the bytes of the secret as a bearer', { authorization: `Bearer ${secret.slice(6)}` }],
    ['a hex without sha256=', { 'x-hub-signature-256': hex(secret) }],
    ['an empty hex', { 'linear-signature': '' }],
    ['a short hex', { 'linear-signature': hex(secret).slice(0, 32) }],
    [
      'a hex by the bytes of the secret',
      {
        'linear-signature': createHmac('sha256', Buffer.from(secret.slice(6), 'base64'))
          .update(body)
          .digest('hex'),
      },
    ],
    ['a signature by no bytes', guessed(''), ['whsec_!!!!!!!!!!']],
    ['a signature by the one byte that is left of a secret', guessed('i'), ['whsec_a!Q!!!!!!!']],
  ])('is not %s', (_, headers, secrets) => expect(isTaken(headers, secrets)).toBe(false));

  test('is what the reference implementation verifies', () => {
    const changed = fc.constantFrom(
      'webhook-id',
      'webhook-timestamp',
      'webhook-signature',
      'body',
      'nothing',
    );
    fc.assert(
      fc.property(
        fc.json(),
        fc.string({ unit: 'grapheme-ascii', minLength: 1 }),
        changed,
        fc.nat(400),
        (text, id, what, age) => {
          const headers: Record<string, string> = signed({ id, text, ms: -age * 1000 });
          if (what in headers) headers[what] = `${headers[what]}1`;
          const sent = what === 'body' ? `${text} ` : text;
          const verified = (() => {
            try {
              return Boolean(new Webhook(secret).verify(sent, headers, { jsonParse: false }) ?? true);
            } catch {
              return false;
            }
          })();
          // The reference takes the time with a tolerance of its own clock.
          fc.pre(Math.abs(age - 300) > 60);
          expect(isTaken(headers, [secret], sent)).toBe(verified);
        },
      ),
      { numRuns: 200 },
    );
  });
});

function guessed(key: string): Record<string, string> {
  const mac = createHmac('sha256', key).update(`msg_1.${seconds()}.${body}`).digest('base64');
  return { ...signed(), 'webhook-signature': `v1,${mac}` };
}
