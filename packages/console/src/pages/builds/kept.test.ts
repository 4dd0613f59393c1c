import { afterAll, beforeEach, expect, test, vi } from 'vitest';
import { keep } from '../../ui/storage.ts';
import { keptName, readKept, settleKept } from './kept.ts';
import type { Place } from './kept.ts';

const storage = new Map<string, string>();
beforeEach(() => {
  storage.clear();
  vi.stubGlobal('localStorage', {
    getItem: (name: string) => storage.get(name) ?? null,
    setItem: (name: string, value: string) => void storage.set(name, value),
    removeItem: (name: string) => void storage.delete(name),
  });
});
afterAll(() => void vi.unstubAllGlobals());

const APP: Place = { kind: 'build', userId: 'usr_1', appId: 'prj_1' };
const BUILD: Place = { ...APP, from: { id: 'bld_1' } };

test('what was typed for one build is that build’s until it is sent, then the app’s', () => {
  keep(keptName(APP), { command: 'app' });
  keep(keptName(BUILD), { command: 'changed' });
  expect(readKept(keptName(APP))).toEqual({ command: 'app' });
  settleKept(BUILD);
  expect(readKept(keptName(BUILD))).toBeNull();
  expect(readKept(keptName(APP))).toEqual({ command: 'changed' });
  settleKept(APP);
  expect(readKept(keptName(APP))).toEqual({ command: 'changed' });
});

test('another user of this browser begins with nothing', () => {
  keep(keptName(APP), { command: 'mine' });
  expect(readKept(keptName({ ...APP, userId: 'usr_2' }))).toBeNull();
});

test('only texts come back', () => {
  keep('x', { command: 'a', timeout: 5, port: null });
  expect(readKept('x')).toEqual({ command: 'a' });
  keep('x', 'a text');
  expect(readKept('x')).toBeNull();
});
