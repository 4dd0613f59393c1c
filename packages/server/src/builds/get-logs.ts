import { exampleOf } from '../http/example.ts';
import { read } from '../http/operation.ts';
import { Ok } from '../http/schemas.ts';
import { loadBuild } from './policy.ts';
import { Logs } from './schemas.ts';
import { readLog } from './store.ts';

/** Whether the caller asks for text before JSON. */
function prefersText(accept: string | undefined): boolean {
  const types = (accept ?? '').split(',').map((type) => type.split(';')[0]!.trim().toLowerCase());
  const [text, json] = [types.indexOf('text/plain'), types.indexOf('application/json')];
  return text >= 0 && (json < 0 || text < json);
}

export const getLogs = read({
  name: 'builds.getLogs',
  summary: "Read what a build's command printed",
  description:
    'Both streams in order of arrival, even while the build is in progress; the first 2 MiB. `Accept: text/plain` returns only the text.',
  access: { permissions: ['thread:read'] },
  responses: {
    200: {
      content: {
        'application/json': { schema: Ok({ logs: Logs }), example: exampleOf(Ok({ logs: Logs })) },
        'text/plain': { schema: { type: 'string' } },
      },
    },
  },
  async handle(call) {
    const { db } = call.ctx;
    const { build } = await loadBuild(db, call);
    const text = await readLog(db, build.id);
    if (prefersText(call.headers.accept))
      return { status: 200, stream: text, headers: { 'content-type': 'text/plain; charset=utf-8' } };
    return {
      status: 200,
      body: { ok: true, logs: { text, byteSize: Buffer.byteLength(text), truncated: build.logs_truncated } },
    };
  },
});
