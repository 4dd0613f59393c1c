import { exampleOf } from '../http/example.ts';
import type { Call, Reply } from '../http/operation.ts';
import { Ok } from '../http/schemas.ts';
import { waitFor } from '../http/wait-for.ts';
import { readLog } from './read-log.ts';
import type { LogOf } from './read-log.ts';
import { LogsOf, LOG_PAGE_BYTES } from './schemas.ts';

/** What has a log, as it is now. */
export interface LogNow extends LogOf {
  logs_truncated: boolean;
  isEnded: boolean;
}

/** The answers of an operation that reads a log. */
export const logsResponses = (what: LogOf['kind']) => ({
  200: {
    content: {
      'application/json': {
        schema: Ok({ logs: LogsOf(what) }),
        example: exampleOf(Ok({ logs: LogsOf(what) })),
      },
      'text/plain': { schema: { type: 'string' } },
    },
  },
});

/** Whether the caller asks for text before JSON. */
function prefersText(accept: string | undefined): boolean {
  const types = (accept ?? '').split(',').map((type) => type.split(';')[0]!.trim().toLowerCase());
  const [text, json] = [types.indexOf('text/plain'), types.indexOf('application/json')];
  return text >= 0 && (json < 0 || text < json);
}

/** Answers with a log, or a part of it; `load` reads what the path names, which has the id `id`. */
export async function answerLogs(
  { ctx, query, signal, headers }: Call<{ offset?: number; waitSeconds?: number }>,
  id: string,
  load: () => Promise<LogNow>,
): Promise<Reply> {
  const of = await waitFor(
    { bus: ctx.bus, on: { channel: 'resources', id }, waitSeconds: query.waitSeconds, signal },
    load,
    (now) => now.logs_byte_size > (query.offset ?? 0) || now.isEnded,
  );
  const limit = query.offset === undefined ? Infinity : LOG_PAGE_BYTES;
  const { text, nextOffset } = await readLog(ctx.db, of, query.offset, limit);
  if (prefersText(headers.accept))
    return { status: 200, stream: text, headers: { 'content-type': 'text/plain; charset=utf-8' } };
  const { logs_byte_size: byteSize, logs_truncated: truncated } = of;
  const ended = of.isEnded && nextOffset >= byteSize;
  return { status: 200, body: { ok: true, logs: { text, byteSize, truncated, nextOffset, ended } } };
}
