import { read } from '../http/operation.ts';
import { answerLogs, logsResponses, LogsQuery } from '../logs/index.ts';
import { loadBuild } from './policy.ts';
import { isEnded } from './state.ts';

export const getLogs = read({
  name: 'builds.getLogs',
  summary: "Read what a build's command printed",
  description:
    'Both streams in order of arrival, even while the build is in progress; the first 2 MiB. With `offset`, returns a part, so a reader can follow a build in progress. `Accept: text/plain` returns only the text.',
  access: { permissions: ['thread:read'] },
  query: LogsQuery('build'),
  responses: logsResponses('build'),
  handle: (call) =>
    answerLogs(call, call.params.buildId!, async () => {
      const { build } = await loadBuild(call.ctx.db, call);
      return { ...build, kind: 'build', isEnded: isEnded(build) };
    }),
});
