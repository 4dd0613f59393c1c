import { expect, it } from 'vitest';
import { directForm } from './direct-form.ts';

const APP = '/api/platform/v1/apps/prj_1';

it.each([
  [`${APP}/sources`, '/api/projects/prj_1/sources'],
  [`${APP}/environment/NAME`, '/api/projects/prj_1/environment/NAME'],
  [`${APP}/source-head/history`, '/api/projects/prj_1/source-head/history'],
  [`${APP}/threads/thr_1`, '/api/threads/thr_1'],
  [`${APP}/threads/thr_1/runs/run_1/tools`, '/api/threads/thr_1/runs/run_1/tools'],
])('%s → %s', (path, form) => {
  expect(directForm(path)).toBe(form);
});

it.each([
  APP,
  `${APP}/threads`,
  `${APP}/events`,
  `${APP}/events/stream`,
  '/api/platform/v1/threads',
  '/api/platform/v1/apps',
  '/api/threads/thr_1',
  '/api/session',
])('%s stays', (path) => {
  expect(directForm(path)).toBe(path);
});
