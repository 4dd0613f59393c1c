/** What the provider says of a pull request. */
import type { PullRequest } from '@headrace/client';
import { Fact, Facts } from '../../ui/page.tsx';
import { Status } from '../../ui/status.tsx';
import { plural, Time } from '../../ui/values.tsx';
import { ChecksLine, Commit, ProviderLink } from './marks.tsx';

const MERGEABLE: Record<string, { status: string; word: string }> = {
  mergeable: { status: 'ready', word: 'no conflicts' },
  conflicting: { status: 'conflicted', word: 'conflicts with the base' },
  unknown: { status: 'pending', word: 'not known yet' },
};

export function PullFacts({ pull }: { pull: PullRequest }) {
  const { scmSummary: summary } = pull;
  return (
    <Facts>
      <Fact name="Branch">
        <span className="font-mono text-mono">{pull.headRef}</span>
        <Commit sha={pull.headSha} />
      </Fact>
      <Fact name="Into">
        <span className="font-mono text-mono">{pull.baseRef}</span>
      </Fact>
      {pull.mergedAt !== null && (
        <Fact name="Merged">
          <Time at={pull.mergedAt} />
          {pull.mergeCommitSha !== null && <Commit sha={pull.mergeCommitSha} />}
        </Fact>
      )}
      {summary && pull.state === 'open' && (
        <Fact name="Merge">
          <Status {...(MERGEABLE[summary.mergeable] ?? { status: 'pending', word: summary.mergeable })} />
          {summary.mergeQueued && <span className="text-ink-2">in the merge queue</span>}
        </Fact>
      )}
      {summary && (
        <Fact name="Checks">
          <ChecksLine checks={summary.checks} isKnown={summary.checksAvailable} />
        </Fact>
      )}
      {summary && (
        <Fact name="Reviews">
          {summary.commentsAvailable ? (
            summary.unresolvedCount === 0 ? (
              <span className="text-ink-2">nothing unresolved</span>
            ) : (
              <ProviderLink pull={pull} text={plural(summary.unresolvedCount, 'open review thread')} />
            )
          ) : (
            <span className="text-wait">The credential may not see reviews.</span>
          )}
        </Fact>
      )}
      <Fact name="Looked at">
        {pull.scmSummaryUpdatedAt === null ? (
          <span className="text-ink-3">not yet</span>
        ) : (
          <Time at={pull.scmSummaryUpdatedAt} />
        )}
      </Fact>
    </Facts>
  );
}
