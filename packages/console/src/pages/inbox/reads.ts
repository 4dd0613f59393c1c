/** What the inbox shows; apart, so that it is read while the page's code still loads. */
import { allAppliesQuery, allBuildsQuery, allThreadsQuery, projectNamesQuery } from '../../api/queries.ts';
import { reviewedThreadsQuery } from '../../api/reviews-queries.ts';

export const INBOX = {
  // Apart: many at work must not push out one that waits.
  asking: allThreadsQuery({ status: 'waiting' }),
  threads: allThreadsQuery({ status: 'failed,running,queued,blocked' }),
  applies: allAppliesQuery({ status: 'conflicted' }),
  latest: allThreadsQuery({ sort: 'activity' }),
  builds: allBuildsQuery(),
  names: projectNamesQuery(),
  pulls: reviewedThreadsQuery({ pullRequestState: 'open' }),
};
