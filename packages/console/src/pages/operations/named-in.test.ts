import type { Operation } from '@headrace/client';
import { expect, test } from 'vitest';
import { namedIn } from './named-in.ts';

const id = (prefix: string, end: string) => `${prefix}_${'0'.repeat(26 - end.length)}${end}`;
const [project, thread, run, message] = [id('prj', '1'), id('thr', '2'), id('run', '3'), id('msg', '4')];

const named = (response: Record<string, unknown>, projectId: string | null = null) =>
  namedIn({ id: id('op', '9'), projectId, response } as Operation).map((subject) => subject.id);

test('resources before those that they refer to, each once', () => {
  const source = id('src', '5');
  const answer = {
    ok: true,
    thread: { id: thread, projectId: project, baseSourceId: source },
    message: { id: message, threadId: thread, projectId: project },
    run: { id: run, threadId: thread, projectId: project },
  };
  expect(named(answer)).toEqual([thread, message, run, project, source]);
});

test('what says no project is in that of the operation', () => {
  const build = id('bld', '6');
  expect(named({ ok: true, build: { id: build } }, project)).toEqual([build]);
  expect(named({ ok: true, build: { id: build } })).toEqual([]);
});

test('texts that are no ids, and what has no page, are left out', () => {
  expect(named({ ok: true, app: { id: project, externalId: 'thr_of mine', name: thread } })).toEqual([
    project,
  ]);
  expect(named({ ok: true, user: { id: id('usr', '7') }, at: [{ id: id('op', '9') }] })).toEqual([]);
});
