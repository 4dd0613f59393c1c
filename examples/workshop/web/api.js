import { openPreviewBackend } from './preview-backend.js';

// What a server said no to. `code` is a translation key, as are `reasons` and the values
// of `problems`.
export class ApiError extends Error {
  constructor(status, body) {
    super(body?.code ?? 'error.internal');
    this.status = status;
    this.code = body?.code ?? 'error.internal';
    this.reasons = body?.reasons ?? [];
    this.problems = body?.problems ?? {};
  }
}

async function fetchJson(fetch, method, path, body) {
  const response = await fetch(`.${path}`, {
    method,
    headers: body === undefined ? {} : { 'content-type': 'application/json' },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  return { status: response.status, body: response.status === 204 ? undefined : await response.json() };
}

/**
 * Connects to the server that the page came from. Where there is none (the built files on
 * a plain file host), the same handlers run inside the page on the demonstration data.
 */
export async function connect(fetch, now = Date.now) {
  let send = (method, path, body) => fetchJson(fetch, method, path, body);
  let preview = false;
  try {
    const health = await send('GET', '/api/health');
    preview = health.body?.ok !== true;
  } catch {
    preview = true;
  }
  if (preview) send = openPreviewBackend(now);

  async function call(method, path, body) {
    const result = await send(method, path, body);
    if (result.status >= 400) throw new ApiError(result.status, result.body);
    return result.body;
  }
  return {
    preview,
    get: (path) => call('GET', path),
    post: (path, body) => call('POST', path, body),
    remove: (path) => call('DELETE', path),
  };
}
