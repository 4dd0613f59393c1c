import http from 'node:http';
import { dispatch } from '../dispatch.js';
import { toResult } from '../errors.js';
import { readBody } from './body.js';
import { readCookie, sessionCookie, SESSION_COOKIE } from './cookies.js';
import { staticFile } from './static-files.js';

const SAFE_HEADERS = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'same-origin',
};

function send(response, status, headers, body) {
  response.writeHead(status, { ...SAFE_HEADERS, ...headers });
  response.end(body);
}

function sendResult(response, result) {
  const headers = { 'cache-control': 'no-store' };
  if (result.token !== undefined) headers['set-cookie'] = sessionCookie(result.token);
  if (result.csv !== undefined) {
    headers['content-type'] = 'text/csv; charset=utf-8';
    headers['content-disposition'] = `attachment; filename="${result.filename}"`;
    return send(response, result.status, headers, result.csv);
  }
  if (result.body === undefined) return send(response, result.status, headers);
  headers['content-type'] = 'application/json; charset=utf-8';
  return send(response, result.status, headers, JSON.stringify(result.body));
}

async function answerApi(ctx, request, url) {
  try {
    const body = await readBody(request);
    const token = readCookie(request.headers.cookie, SESSION_COOKIE);
    return await dispatch(ctx, { method: request.method, path: url.pathname, query: url.searchParams, body, token });
  } catch (error) {
    return toResult(error);
  }
}

/** An http.Server for the API and, with a `root`, for the built page. Not listening yet. */
export function createServer(ctx, { root } = {}) {
  return http.createServer(async (request, response) => {
    try {
      const url = new URL(request.url, 'http://localhost');
      if (url.pathname.startsWith('/api/')) return sendResult(response, await answerApi(ctx, request, url));
      const file = root && request.method === 'GET' ? await staticFile(root, url.pathname) : null;
      if (!file) return sendResult(response, { status: 404, body: { code: 'error.notFound' } });
      return send(response, 200, { 'content-type': file.type, 'cache-control': file.cache }, file.body);
    } catch (error) {
      ctx.log?.(error);
      if (!response.headersSent) sendResult(response, toResult(error));
      return response.destroy();
    }
  });
}
