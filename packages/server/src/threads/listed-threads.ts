/** The answer of lists of threads, of one app, of all, or of Direct projects too. */
import type { RawBuilder } from 'kysely';
import Type from 'typebox';
import { placeOf } from '../db/listed.ts';
import { containsText } from '../db/search.ts';
import type { Call } from '../http/operation.ts';
import { Enum } from '../http/schemas.ts';
import { pageOf } from '../projects/index.ts';
import type { BoundList } from '../projects/index.ts';
import { readThreads } from './read-threads.ts';
import { threadView } from './view.ts';

export const Sort = Type.Optional(
  Enum(['activity'], {
    description:
      'By `updatedAt`, newest first. A thread that changes while its list is read moves to the first page.',
  }),
);

export const titleMatches = (part: string | undefined): RawBuilder<boolean> | undefined =>
  part === undefined ? undefined : containsText('title', part);

export async function answerListed(call: Call<{ limit?: number; cursor?: string }>, list: BoundList) {
  const { rows, ...rest } = await pageOf(
    call,
    list,
    (ids) => readThreads(call.ctx.db, ids, list.byActivity),
    ({ thread }) => placeOf(list, thread),
  );
  return { status: 200, body: { ok: true, threads: rows.map(threadView), ...rest } };
}
