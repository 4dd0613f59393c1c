#!/usr/bin/env node
/**
 * A page with the component, for a draft in conflict: `HEADRACE_KEY=hrk_… node server.js [APP THREAD]`. PORT defaults to
 * 3001. Without a thread, it creates an app with one. The key stays here; the page only calls this server.
 */
import { createServer } from 'node:http';
import { join } from 'node:path';
import { createClient, HeadraceError } from '@headrace/client';
import { build } from 'esbuild';
import { applyDecisions, readConflicts } from './conflicts.js';

const { HEADRACE_URL = 'http://127.0.0.1:4400', HEADRACE_KEY, PORT = '3001' } = process.env;
const PAGE = '<!doctype html><html lang="en"><meta charset="utf-8"><title>Conflicts</title><link rel="stylesheet" href="/page.css"><main id="root"></main><script src="/page.js"></script></html>';
const MAX_BODY = 10 * 1024 * 1024;

/** An app with a second draft that conflicts with the first one. */
async function makeConflict(headrace) {
  const write = (path, text) => `\`\`\`file ${path}\n${text}\n\`\`\`\n`;
  const lines = (greeting, end) => [greeting, ...'abcdefgh', end].join('\n');
  const { id: appId } = await headrace.apps.create({ name: 'Conflicts' });
  const files = [{ path: 'greeting.txt', content: `${lines('Hello', 'Bye')}\n` }, { path: 'old.txt', content: 'old\n' }];
  const { source } = await headrace.sources.import(appId, { files });
  await headrace.head.initialize(appId, { sourceId: source.id });
  const [ours, theirs] = [write('greeting.txt', lines('Good morning', 'See you')) + write('old.txt', 'older'), write('greeting.txt', lines('Good evening', 'Farewell')) + '```sh\nrm old.txt\n```\n'];
  const draftOf = async (content) => {
    const { thread } = await headrace.threads.create(appId);
    const { resultSourceId } = await headrace.messages.send(appId, thread.id, { content }).done();
    return { threadId: thread.id, expectedSourceId: resultSourceId };
  };
  const [{ threadId: first, expectedSourceId }, { threadId }] = [await draftOf(ours), await draftOf(theirs)];
  await headrace.applies.create(appId, first, { expectedSourceId }).done();
  return { appId, threadId };
}

async function answer(request, headrace, place) {
  const { pathname } = new URL(request.url, 'http://localhost');
  if (pathname === '/api/conflicts') return readConflicts(headrace, place.appId, place.threadId);
  if (pathname !== '/api/decide' || request.method !== 'POST' || !['same-origin', undefined].includes(request.headers['sec-fetch-site'])) return null;
  let text = '';
  for await (const part of request) if ((text += part).length > MAX_BODY) return null;
  const { sourceId, headSourceId, decisions, key } = JSON.parse(text);
  return applyDecisions(headrace, { ...place, sourceId, headSourceId, decisions, key });
}

if (!HEADRACE_KEY) {
  console.error('Set HEADRACE_KEY to a service key, and HEADRACE_URL if the service is not at http://127.0.0.1:4400.');
  process.exit(2);
}
const headrace = createClient({ baseUrl: HEADRACE_URL, key: HEADRACE_KEY });
const bundle = await build({ entryPoints: [join(import.meta.dirname, 'page.jsx')], bundle: true, write: false, jsx: 'automatic', outdir: '/', loader: { '.css': 'css' } });
const assets = new Map(bundle.outputFiles.map(({ path, text }) => [path, text]));
const [appId, threadId] = process.argv.slice(2);
const place = threadId ? { appId, threadId } : await makeConflict(headrace).catch((error) => {
  console.error(error instanceof HeadraceError ? `${error.code}: ${error.message}` : error);
  process.exit(error.status === 0 ? 3 : 1);
});
const server = createServer(async (request, response) => {
  const send = (status, body, type = 'application/json') => response.writeHead(status, { 'content-type': `${type}; charset=utf-8` }).end(body);
  try {
    if (request.url === '/') return send(200, PAGE, 'text/html');
    if (assets.has(request.url)) return send(200, assets.get(request.url), request.url.endsWith('.css') ? 'text/css' : 'text/javascript');
    const found = await answer(request, headrace, place);
    send(found ? 200 : 404, JSON.stringify(found ?? { message: 'There is no such address.' }));
  } catch (error) {
    const isShown = error instanceof HeadraceError && error.status !== 401 && error.status !== 403;
    if (!isShown) console.error(error.message);
    send(isShown ? error.status || 503 : 500, JSON.stringify({ message: isShown ? error.message : 'This did not work.' }));
  }
});
server.listen(Number(PORT), '127.0.0.1', () => console.log(`listening on http://127.0.0.1:${server.address().port}`));
