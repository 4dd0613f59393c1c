import type { Automation } from '@headrace/client';
import { expect, test } from 'vitest';
import { bodyOf, changesOf, draftOf, missingIn, NEW, valueOf, wrongIn } from './draft.ts';
import { payloadOf } from './payload.ts';

const HOOK = {
  id: 'aut_1',
  projectId: 'prj_1',
  name: 'Deployed',
  prompt: '{{payload.service}} was deployed.',
  trigger: { kind: 'webhook', source: 'error_tracker', defaults: { organizationSlug: 'acme' } },
  filter: [
    { path: 'payload.level', op: 'in', value: ['error', 'fatal'] },
    { path: 'payload.count', op: 'eq', value: '5' },
    { path: 'payload.name', op: 'eq', value: 'shop' },
    { path: 'payload.id', op: 'exists' },
  ],
  modelId: null,
  baseBranch: null,
  pullRequest: 'none',
  overlap: 'skip',
  catchUp: true,
  spendLimitMicros: 1_500_000,
  monthlyLimitMicros: null,
  disableAfterFailures: 5,
} as unknown as Automation;

test('a stored automation becomes a form and back without a change', () => {
  const draft = draftOf(HOOK);
  expect(draft.filter.map(({ value }) => value)).toEqual(['["error","fatal"]', '"5"', 'shop', '']);
  expect(changesOf(HOOK, draft, null)).toEqual({});
  expect(bodyOf(draft, null)).toMatchObject({ trigger: HOOK.trigger, filter: HOOK.filter });
});

test('only what differs is sent; a secret brings its trigger with it', () => {
  const draft = draftOf(HOOK);
  expect(changesOf(HOOK, { ...draft, spendLimit: '', disableAfter: '' }, null)).toEqual({
    spendLimitMicros: null,
    disableAfterFailures: null,
  });
  expect(changesOf(HOOK, draft, 'a secret of the sender')).toEqual({
    trigger: { ...HOOK.trigger, secret: 'a secret of the sender' },
  });
});

test('a schedule has no conditions, and a value is JSON or else text', () => {
  const filter = [{ path: 'payload.a', op: 'eq' as const, value: 'x' }];
  expect(bodyOf({ ...NEW, filter }, null).filter).toEqual([]);
  expect(['5', '"5"', 'five', '[1]', 'true'].map(valueOf)).toEqual([5, '5', 'five', [1], true]);
});

test('what is missing or wrong is said before it is sent', () => {
  const whole = { ...NEW, projectId: 'prj_1', name: 'a', prompt: 'b' };
  expect(missingIn(NEW)).toBe('Choose its project.');
  expect(missingIn(whole)).toBeNull();
  expect(missingIn({ ...whole, kind: 'event' })).toBe('Choose an event.');
  expect(
    Object.keys(wrongIn({ ...whole, spendLimit: '-1', monthlyLimit: '1,5', disableAfter: '101' })),
  ).toEqual(['spendLimit', 'monthlyLimit', 'disableAfter']);
});

test('a payload is an object of JSON, or nothing', () => {
  expect(payloadOf(' ')).toEqual({ fault: null });
  expect(payloadOf('{"a":1}')).toEqual({ payload: { a: 1 }, fault: null });
  expect(payloadOf('{"a"').fault).toMatch(/^Not JSON: /);
  expect(payloadOf('[1]').fault).toBe('An object: { … }.');
  expect(payloadOf(`{"a":"${'x'.repeat(256 * 1024)}"}`).fault).toBe('It has more than 256 KiB.');
});
