import { describe, expect, test } from 'vitest';
import { exampleOf } from '../http/example.ts';
import { compile } from '../http/validate.ts';
import { DirectEvent, EVENT_DATA, EVENT_TYPES, PlatformEvent, isEventType } from './types.ts';

/** Type: the fields of its data. */
const FIELDS: Record<string, string> = {
  'thread.updated': 'id status',
  'thread.deleted': 'id status',
  'run.queued': 'id status',
  'run.running': 'id status',
  'run.waiting': 'id status',
  'run.completed': 'id status',
  'run.failed': 'id status',
  'run.cancelled': 'id status',
  'message.persisted': 'id role',
  'tool.updated': 'id status',
  'approval.requested': 'id sourceEventId',
  'approval.resolved': 'id sourceEventId',
  'checkpoint.created': 'id',
  'workspace.recovery.updated': 'id',
  'preview.updated': 'id status',
  'pull_request.updated': 'id status',
  'automation.execution.updated': 'id status',
  'operation.updated': 'id status',
  'platform.app.created': 'id externalId createdAt updatedAt',
  'platform.app.updated': 'id externalId createdAt updatedAt',
  'platform.app.deleted': 'id externalId createdAt updatedAt',
  'platform.source.imported': 'id sha256 byteSize fileCount',
  'platform.apply.queued': 'id status sourceId',
  'platform.apply.applied': 'id status sourceId',
  'platform.apply.conflicted': 'id status sourceId',
  'platform.apply.failed': 'id status sourceId',
  'platform.build.queued': 'id status sourceId',
  'platform.build.building': 'id status sourceId',
  'platform.build.failed': 'id status sourceId',
  'platform.build.ready': 'id status sourceId artifactSha256',
  'platform.head.updated': 'id sourceId revision',
};

test('these are all types there are, and no others', () => {
  expect([...EVENT_TYPES].sort()).toEqual(Object.keys(FIELDS).sort());
  for (const name of ['platform.app', 'run.*', 'run.finished', 'PLATFORM.APP.CREATED', 'toString', ''])
    expect(isEventType(name)).toBe(false);
});

describe.each(EVENT_TYPES)('%s', (type) => {
  const check = compile(EVENT_DATA[type], 'body');
  const example = exampleOf(EVENT_DATA[type]) as Record<string, unknown>;

  test('has its fields, all of them and nothing else', () => {
    expect(Object.keys(example).join(' ')).toBe(FIELDS[type]);
    expect(check(example)).toEqual([]);
    for (const name of Object.keys(example)) {
      const { [name]: _, ...without } = example;
      expect(check(without).length, `without ${name}`).toBeGreaterThan(0);
    }
    expect(check({ ...example, name: 'a name' }).length).toBeGreaterThan(0);
  });

  test('fits the envelope', () => {
    const envelope = exampleOf(PlatformEvent) as Record<string, unknown>;
    expect(compile(PlatformEvent, 'body')({ ...envelope, type, data: example })).toEqual([]);
  });
});

test('appId is on Platform events only, projectId is null on Direct ones that concern no project', () => {
  const platform = exampleOf(PlatformEvent) as Record<string, unknown>;
  const direct = exampleOf(DirectEvent) as Record<string, unknown>;
  expect(Object.keys(platform)).toEqual([
    'id',
    'type',
    'sequence',
    'orgId',
    'appId',
    'projectId',
    'threadId',
    'runId',
    'data',
    'occurredAt',
    'publishedAt',
    'cursor',
  ]);
  expect(compile(PlatformEvent, 'body')({ ...platform, projectId: null }).length).toBeGreaterThan(0);
  expect(compile(DirectEvent, 'body')({ ...direct, projectId: null })).toEqual([]);
  expect(compile(DirectEvent, 'body')({ ...direct, appId: 'prj_1' }).length).toBeGreaterThan(0);
});
