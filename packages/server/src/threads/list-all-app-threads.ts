import Type from 'typebox';
import { read } from '../http/operation.ts';
import { ListQuery, Page, SearchText } from '../http/schemas.ts';
import { allAppsFilters, listOfAllApps } from '../projects/index.ts';
import { answerListed, Sort, titleMatches } from './listed-threads.ts';
import { Thread, THREAD_STATUSES } from './schemas.ts';

export const listAllAppThreads = read({
  name: 'threads.listAllAppThreads',
  summary: 'List the threads of all apps, newest first',
  access: { permissions: ['thread:read'] },
  query: ListQuery({
    ...allAppsFilters(THREAD_STATUSES),
    query: Type.Optional(SearchText('title')),
    sort: Sort,
  }),
  responses: { 200: Page('threads', Thread) },
  async handle(call) {
    const { sort, query } = call.query;
    const list = await listOfAllApps(call, 'threads', THREAD_STATUSES);
    return answerListed(call, {
      ...list,
      byActivity: sort === 'activity',
      matches: titleMatches(query),
      binding: [...list.binding, sort ?? null, query ?? null],
    });
  },
});
