/** What is typed for a new thread, as the calls that make it. */
import type { CreateDirectThreadInput, Project } from '@headrace/client';
import { quoted } from '../../ui/quoted.ts';
import { limitOf } from '../thread/spend.ts';
import { titleFor } from './draft.ts';
import type { NewThreadDraft } from './draft.ts';

type Place = Pick<Project, 'id' | 'kind' | 'repositoryId'>;

/** For the Direct API, which makes threads of apps, too. */
export function bodyOf({ id, kind, repositoryId }: Place, draft: NewThreadDraft): CreateDirectThreadInput {
  const title = titleFor(draft);
  const branch = draft.branch.trim();
  const issue = draft.trackerIssueUrl.trim();
  const limit = limitOf(draft.spendLimit);
  return {
    projectId: id,
    ...(title && { title }),
    ...(draft.modelId !== null && { modelId: draft.modelId }),
    ...(draft.sourceId !== null && { sourceId: draft.sourceId }),
    ...(repositoryId !== null && draft.sourceId === null && branch && { baseBranch: branch }),
    ...(limit != null && { spendLimitMicros: limit }),
    ...(kind === 'direct' && issue && { trackerIssueUrl: issue }),
    ...(kind === 'direct' && draft.taskId !== null && { taskId: draft.taskId }),
    message: { content: draft.content },
  };
}

/** The same call by code: of an app on the Platform API. */
export function samplesOf(place: Place, body: CreateDirectThreadInput) {
  const { projectId, ...rest } = body;
  const isApp = place.kind === 'platform';
  const sent = isApp ? rest : body;
  const input = JSON.stringify(sent, null, 2);
  const options: [string, string | undefined][] = [
    ['--title', body.title && quoted(body.title)],
    [isApp ? '--app' : '--project', projectId],
    ['--model', body.modelId],
    ['--source', body.sourceId],
    ['--branch', body.baseBranch && quoted(body.baseBranch)],
    ['--issue', body.trackerIssueUrl && quoted(body.trackerIssueUrl)],
    ['--task', body.taskId],
    ['--spend-limit', body.spendLimitMicros === undefined ? undefined : `${body.spendLimitMicros / 1e6}`],
  ];
  return {
    path: isApp ? `/api/platform/v1/apps/${projectId}/threads` : '/api/threads',
    body: sent,
    ts: isApp
      ? `const { thread } = await client.threads.create('${projectId}', ${input});`
      : `const { thread } = await client.threads.createDirect(${input});`,
    cli: [
      `headrace thread new ${quoted(body.message?.content ?? '')}`,
      ...options.flatMap(([name, value]) => (value === undefined ? [] : [`${name} ${value}`])),
    ].join(' '),
  };
}
