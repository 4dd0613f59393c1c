/** A link to where a person does something about a pull request. */
import type { PullRequestSummary } from '@headrace/client';
import { ButtonLink } from '../../ui/button.tsx';
import { hostedAt } from './address.ts';
import type { Standing } from './standing.ts';

interface RemedyProps {
  standing: Standing;
  pull: PullRequestSummary;
  appId: string;
  /** `j` and `k` stop here. */
  'data-row'?: boolean;
}

export function RemedyLink({ standing, pull, appId, ...row }: RemedyProps) {
  const params = { appId, threadId: pull.threadId };
  const thread = { to: '/apps/$appId/threads/$threadId', params } as const;
  const hosted = hostedAt(pull.url);
  switch (standing.remedy) {
    case 'conversation':
      return (
        <ButtonLink {...row} {...thread}>
          Send a message
        </ButtonLink>
      );
    case 'runs':
      return (
        <ButtonLink {...row} {...thread} search={{ panel: 'runs' }}>
          Open the run
        </ButtonLink>
      );
    case 'settings':
      return (
        <ButtonLink {...row} to="/apps/$appId/settings" params={{ appId }}>
          Open settings
        </ButtonLink>
      );
    case 'usage':
      return (
        <ButtonLink {...row} to="/organization/usage">
          Open usage
        </ButtonLink>
      );
    case 'repositories':
      return (
        <ButtonLink {...row} to="/organization/repositories">
          Repositories
        </ButtonLink>
      );
    case 'provider':
      if (hosted)
        return (
          <ButtonLink
            {...row}
            to="/organization/repositories/$repositoryId/pull-requests/$number"
            params={hosted}
          >
            Open review
          </ButtonLink>
        );
  }
  return (
    <ButtonLink {...row} {...thread} search={{ panel: 'pull-request', pull: pull.id }}>
      Open
    </ButtonLink>
  );
}
