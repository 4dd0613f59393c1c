import Type from 'typebox';
import { exampleOf } from '../http/example.ts';
import { read } from '../http/operation.ts';
import { Body, Ok } from '../http/schemas.ts';
import { waitFor } from '../http/wait-for.ts';
import { loadBuild } from './policy.ts';
import { readLog } from './read-log.ts';
import { Logs, LOG_PAGE_BYTES } from './schemas.ts';
import { isEnded } from './state.ts';

/** Whether the caller asks for text before JSON. */
function prefersText(accept: string | undefined): boolean {
  const types = (accept ?? '').split(',').map((type) => type.split(';')[0]!.trim().toLowerCase());
  const [text, json] = [types.indexOf('text/plain'), types.indexOf('application/json')];
  return text >= 0 && (json < 0 || text < json);
}

const Query = Body({
  offset: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      description:
        'The text from this byte on, at most 256 KiB, cut between characters. Start at 0 and continue at `nextOffset`. When omitted, the whole log.',
    }),
  ),
  waitSeconds: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 30,
      description:
        'Answer when the log has text after `offset`, when the build has ended, or after this many seconds.',
    }),
  ),
});

export const getLogs = read({
  name: 'builds.getLogs',
  summary: "Read what a build's command printed",
  description:
    'Both streams in order of arrival, even while the build is in progress; the first 2 MiB. With `offset`, returns a part, so a reader can follow a build in progress. `Accept: text/plain` returns only the text.',
  access: { permissions: ['thread:read'] },
  query: Query,
  responses: {
    200: {
      content: {
        'application/json': { schema: Ok({ logs: Logs }), example: exampleOf(Ok({ logs: Logs })) },
        'text/plain': { schema: { type: 'string' } },
      },
    },
  },
  async handle(call) {
    const { ctx, params, query, signal } = call;
    const { build } = await waitFor(
      {
        bus: ctx.bus,
        on: { channel: 'resources', id: params.buildId! },
        waitSeconds: query.waitSeconds,
        signal,
      },
      () => loadBuild(ctx.db, call),
      (found) => found.build.logs_byte_size > (query.offset ?? 0) || isEnded(found.build),
    );
    const limit = query.offset === undefined ? Infinity : LOG_PAGE_BYTES;
    const { text, nextOffset } = await readLog(ctx.db, build, query.offset, limit);
    if (prefersText(call.headers.accept))
      return { status: 200, stream: text, headers: { 'content-type': 'text/plain; charset=utf-8' } };
    const { logs_byte_size: byteSize, logs_truncated: truncated } = build;
    const ended = isEnded(build) && nextOffset >= byteSize;
    return { status: 200, body: { ok: true, logs: { text, byteSize, truncated, nextOffset, ended } } };
  },
});
