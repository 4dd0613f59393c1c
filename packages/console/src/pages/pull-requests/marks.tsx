/** Small pieces that pages of pull requests share. */
import type { PullRequestSummary } from '@headrace/client';
import { Link } from '@tanstack/react-router';
import { Plain } from '../../code/plain.tsx';
import { OutsideLink } from '../../ui/outside-link.tsx';
import { Status } from '../../ui/status.tsx';
import { CopyButton } from '../../ui/values.tsx';
import { hostedAt } from './address.ts';

/** A link to the pull request where it is: a page of the console, or the provider's. */
export function ProviderLink({ pull, text }: { pull: PullRequestSummary; text: string }) {
  const hosted = hostedAt(pull.url);
  if (hosted)
    return (
      <Link
        to="/organization/repositories/$repositoryId/pull-requests/$number"
        params={hosted}
        className="link"
      >
        <Plain text={text} />
      </Link>
    );
  return <OutsideLink href={pull.url} text={text} />;
}

/** A commit's id: its first characters, the whole on hover and by the button. */
export function Commit({ sha, copy = true }: { sha: string; copy?: boolean }) {
  return (
    <span className="inline-flex items-center whitespace-nowrap font-mono text-mono text-ink-2">
      <span title={sha}>{sha.slice(0, 7)}</span>
      {copy && <CopyButton text={sha} label={`Copy ${sha}`} />}
    </span>
  );
}

type Checks = NonNullable<PullRequestSummary['scmSummary']>['checks'];

/** The worst of the checks, and how many there are of each kind. */
export function ChecksLine({ checks, isKnown }: { checks: Checks; isKnown: boolean }) {
  const { total, succeeded, failing, running } = checks;
  if (!isKnown) return <span className="text-wait">The credential may not see checks.</span>;
  if (total === 0) return <span className="text-ink-3">no checks</span>;
  return (
    <span className="flex flex-wrap items-center gap-x-3">
      {failing > 0 && <Status status="failed" word={`${failing} failing`} />}
      {running > 0 && <Status status="running" word={`${running} running`} />}
      {succeeded > 0 && <Status status="completed" word={`${succeeded} succeeded`} />}
      <span className="text-ink-3">of {total}</span>
    </span>
  );
}

/** Beside a thread in a list: the number of its pull request and where that is. */
export function PullRequestMark({ pull }: { pull: PullRequestSummary }) {
  const status = pull.state === 'open' && pull.reviewLoop?.enabled ? pull.reviewLoop.status : pull.state;
  return (
    <span
      className="inline-flex shrink-0 items-center gap-1 text-12 text-ink-3 tabular-nums"
      title={`Pull request ${pull.number}: ${status}`}
    >
      <Status status={status} bare />#{pull.number}
    </span>
  );
}
