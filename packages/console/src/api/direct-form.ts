/** The form of a path that serves an app and a project of the Direct API alike. */

const IN_THREAD = /^\/api\/platform\/v1\/apps\/[^/]+\/threads\/(?=[^/])/;
const IN_APP = /^\/api\/platform\/v1\/apps\/(?=[^/]+\/(?!threads$|events(\/|$)))/;

/**
 * `/api/platform/v1/apps/prj_1/sources` → `/api/projects/prj_1/sources`, and paths in a thread → `/api/threads/thr_1/…`.
 * Both forms mean the same, but only the second one knows projects that are no apps. The app itself, its list of
 * threads and its feed have no such form, and stay as they are.
 */
export const directForm = (path: string): string =>
  path.replace(IN_THREAD, '/api/threads/').replace(IN_APP, '/api/projects/');
