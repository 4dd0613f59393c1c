import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { sealCursor } from '../http/cursors.ts';
import { newId } from '../ids.ts';
import { bindingOf, openPosition, requireRetained, sealPosition } from './cursor.ts';
import type { EventFilter } from './filter.ts';

const secret = randomBytes(32);
const feed: EventFilter = {
  orgId: newId('org'),
  feed: 'platform',
  projectId: newId('prj'),
  projectIds: null,
  threadId: null,
  runId: null,
  types: null,
};
const position = { sequence: 12, time: 1_000_000 };
const [a, b] = [newId('prj'), newId('prj')];

const reuse = (made: EventFilter, used: EventFilter) =>
  openPosition(secret, bindingOf(used, 1), sealPosition(secret, bindingOf(made, 1), position));
const code = (act: () => unknown) => {
  try {
    act();
    return 'none';
  } catch (error) {
    return (error as { code: string }).code;
  }
};

describe('200', () => {
  test('a cursor serves its feed and filters; types are a set', () => {
    expect(reuse(feed, { ...feed })).toEqual(position);
    expect(
      reuse(
        { ...feed, types: new Set(['run.queued', 'run.failed']) },
        { ...feed, types: new Set(['run.failed', 'run.queued']) },
      ),
    ).toEqual(position);
  });
  test('one from before the log had generations is of the first', () => {
    const { filter, scope } = bindingOf(feed, 1);
    const cursor = sealCursor(secret, [filter, scope, position.sequence, position.time]);
    expect(openPosition(secret, bindingOf(feed, 1), cursor)).toEqual(position);
    expect(code(() => openPosition(secret, bindingOf(feed, 2), cursor))).toBe('cursor_expired');
  });
  test('projects count on the feed of all apps only, as a set', () => {
    const all = { ...feed, projectId: null };
    expect(reuse({ ...all, projectIds: new Set([a, b]) }, { ...all, projectIds: new Set([b, a]) })).toEqual(
      position,
    );
    const direct: EventFilter = { ...all, feed: 'direct' };
    expect(reuse({ ...direct, projectIds: new Set([a]) }, { ...direct, projectIds: new Set([b]) })).toEqual(
      position,
    );
  });
});

describe('400', () => {
  test.each<[string, Partial<EventFilter>]>([
    ['organization', { orgId: newId('org') }],
    ['app', { projectId: a }],
    ['feed', { projectId: null }],
    ['API', { feed: 'direct' }],
    ['thread', { threadId: newId('thr') }],
    ['run', { runId: newId('run') }],
    ['types', { types: new Set(['run.queued'] as const) }],
  ])('of another %s', (_, other) => {
    expect(code(() => reuse(feed, { ...feed, ...other }))).toBe('invalid_cursor');
  });
  test('altered, cut, or none at all', () => {
    const cursor = sealPosition(secret, bindingOf(feed, 1), position);
    for (const wrong of [
      cursor.slice(0, -4),
      `${cursor}A`,
      'garbage',
      'AAAA',
      '12',
      sealPosition(randomBytes(32), bindingOf(feed, 1), position),
    ])
      expect(code(() => openPosition(secret, bindingOf(feed, 1), wrong))).toBe('invalid_cursor');
  });
});

describe('410', () => {
  test('cursor_scope_changed: other apps, fewer, all', () => {
    const all = { ...feed, projectId: null, projectIds: new Set([a, b]) };
    for (const projectIds of [new Set([a]), new Set([a, newId('prj')]), null])
      expect(code(() => reuse(all, { ...all, projectIds }))).toBe('cursor_scope_changed');
  });
  test('cursor_expired: of another generation of the log', () => {
    const cursor = sealPosition(secret, bindingOf(feed, 2), position);
    expect(openPosition(secret, bindingOf(feed, 2), cursor)).toEqual(position);
    for (const generation of [1, 3])
      expect(code(() => openPosition(secret, bindingOf(feed, generation), cursor))).toBe('cursor_expired');
  });
  test('cursor_expired: one retention after its time, or behind a log that was lost', () => {
    const end = { sequence: 20, time: position.time + 60_000 };
    expect(code(() => requireRetained(position, end, 60))).toBe('none');
    expect(code(() => requireRetained(position, { ...end, time: end.time + 1 }, 60))).toBe('cursor_expired');
    expect(code(() => requireRetained(position, { ...end, sequence: 11 }, 60))).toBe('cursor_expired');
  });
});
