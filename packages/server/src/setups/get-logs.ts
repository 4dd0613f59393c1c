import { read } from '../http/operation.ts';
import { answerLogs, logsResponses, LogsQuery } from '../logs/index.ts';
import { loadSetup } from './policy.ts';
import { isEnded } from './state.ts';

export const getLogs = read({
  name: 'setups.getLogs',
  summary: "Read what a setup's command printed",
  description:
    "As the logs of a build: both streams in order of arrival, even while it is in progress; the first 2 MiB. Secrets of the app's variables are masked.",
  access: { permissions: ['thread:read'] },
  query: LogsQuery('setup'),
  responses: logsResponses('setup'),
  handle: (call) =>
    answerLogs(call, call.params.setupId!, async () => {
      const { setup } = await loadSetup(call.ctx.db, call);
      return { ...setup, kind: 'setup', isEnded: isEnded(setup) };
    }),
});
