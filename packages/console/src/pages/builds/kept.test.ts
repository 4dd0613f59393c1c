import { afterAll, beforeEach, expect, test, vi } from 'vitest';
import { keep, keptName, readKept, settleKept } from './kept.ts';

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

test('what was typed for one build is that build’s until it is sent, then the app’s', () => {
  const from = { id: 'bld_1' };
  keep(keptName('build', 'prj_1', undefined), { command: 'app' });
  keep(keptName('build', 'prj_1', from), { command: 'changed' });
  expect(readKept(keptName('build', 'prj_1', undefined))).toEqual({ command: 'app' });
  settleKept('build', 'prj_1', from);
  expect(readKept(keptName('build', 'prj_1', from))).toBeNull();
  expect(readKept(keptName('build', 'prj_1', undefined))).toEqual({ command: 'changed' });
  settleKept('build', 'prj_1', undefined);
  expect(readKept(keptName('build', 'prj_1', undefined))).toEqual({ command: 'changed' });
});

test('what is no JSON is nothing', () => {
  storage.set('headrace:x', '{');
  expect(readKept('x')).toBeNull();
});
