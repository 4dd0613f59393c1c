import { expect, test } from 'vitest';
import { allowFlags, commandOf, PRESETS, summaryOf, withAction } from './permissions.ts';

test('an action is set and taken back, in the order of the service, and what is unknown stays', () => {
  const before = { thread: ['read'], future: ['fly'] } as object;
  const on = withAction(before, { resource: 'thread', actions: ['create', 'stop'], isOn: true });
  expect(on).toEqual({ future: ['fly'], thread: ['create', 'read', 'stop'] });
  expect(withAction(on, { resource: 'thread', actions: ['create', 'read', 'stop'], isOn: false })).toEqual({
    future: ['fly'],
  });
});

test('in words and for the command line', () => {
  expect(PRESETS.map(({ permissions }) => summaryOf(permissions))).toEqual(PRESETS.map(({ text }) => text));
  const some = { thread: ['create', 'read'] } as const;
  expect(summaryOf({ thread: [...some.thread] })).toBe('thread: create, read');
  expect(allowFlags({ thread: [...some.thread], usage: ['read'] })).toBe(
    '--allow thread:create,read --allow usage:read',
  );
  expect(allowFlags(PRESETS[0]!.permissions)).toBe('--allow all');
});

test('nothing allowed is said by the body: without an option, the command line leaves it as it is', () => {
  const draft = { permissions: {}, projectIds: ['prj_1'] };
  expect(commandOf('update sa_1', draft)).toBe(
    `echo '{"permissions":{}}' | headrace keys update sa_1 --only prj_1 --input -`,
  );
  expect(commandOf('update sa_1', { ...draft, permissions: { usage: ['read'] } })).toBe(
    'headrace keys update sa_1 --allow usage:read --only prj_1',
  );
});
