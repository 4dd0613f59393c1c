import { afterEach, expect, test, vi } from 'vitest';
import { leaveTo } from './leave.ts';

afterEach(() => vi.unstubAllGlobals());

test('a page that was left for good is read anew when a browser shows it again', () => {
  const window = new EventTarget();
  const [assign, reload] = [vi.fn(), vi.fn()];
  vi.stubGlobal('window', window);
  vi.stubGlobal('location', { assign, reload });
  const show = (persisted: boolean) =>
    window.dispatchEvent(Object.assign(new Event('pageshow'), { persisted }));
  leaveTo('/console/sign-in');
  expect(assign.mock.calls).toEqual([['/console/sign-in']]);
  show(false);
  expect(reload).not.toHaveBeenCalled();
  show(true);
  expect(reload).toHaveBeenCalledOnce();
});
