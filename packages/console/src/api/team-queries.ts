/** What the pages of the team, its keys, the audit log and usage read. No event tells of any of it: each is read again when it is shown. */
import type { Credential, Member, Page, Usage } from '@headrace/client';
import { client } from './client.ts';
import { many, one, READ } from './query.ts';

/** As many as the service gives at once. */
const MOST = 200;
const ANEW = { staleTime: 0 };
/** So many pages of days are read at most: more than ten years. */
const MOST_PAGES = 20;

export const membersQuery = () => ({
  ...many(['members'], null, (options) => client.members.list(options), MOST),
  ...ANEW,
});

/** Of all pages that were read, each person once. */
export const membersOf = (data: { pages: Page<Member>[] } | undefined): Member[] => [
  ...new Map(
    data?.pages.flatMap(({ items }) => items.map((member) => [member.userId, member] as const)),
  ).values(),
];

/** Owners and admins only, as all below. */
export const invitationsQuery = () => ({
  ...many(['invitations'], null, (options) => client.invitations.list(options), MOST),
  ...ANEW,
});

export const accountsQuery = () => ({
  ...many(['accounts'], null, (options) => client.accounts.list(options), MOST),
  ...ANEW,
});

export const accountQuery = (accountId: string) => ({
  ...one(['account', accountId], null, (options) => client.accounts.get(accountId, options)),
  ...ANEW,
});

/** The newest, which are all but in odd cases. */
export const credentialsQuery = (accountId: string) => ({
  ...one(['account', accountId, 'credentials'], null, (options) =>
    client.credentials.list(accountId, { ...options, limit: MOST }),
  ),
  ...ANEW,
});

/** Whether a key is accepted at that time, as far as it depends on the key. */
export const isValid = ({ revoked, expiresAt }: Credential, now: number): boolean =>
  !revoked && Date.parse(expiresAt) > now;

export const auditQuery = () => ({
  ...many(['audit'], null, (options) => client.audit.list(options), MOST),
  ...ANEW,
});

export type GroupBy = 'day' | 'project' | 'thread' | 'model';

/** Runs that began from `from` on and before `to`. */
export interface Span {
  from: string;
  to: string;
}

/** What a line of usage is of. */
export const groupOf = ({ day, threadId, projectId, modelId }: Usage): string =>
  day ?? threadId ?? projectId ?? modelId ?? '';

/** By what is asked for, page by page. */
export const usageQuery = (span: Span, groupBy: GroupBy) => ({
  ...many(
    ['usage', span, groupBy],
    null,
    (options) => client.usage.read({ ...options, ...span, groupBy }),
    MOST,
  ),
  ...ANEW,
});

/** All days, of which the total is made. */
export const usageDaysQuery = (span: Span) => ({
  ...one(['usage', span, 'all days'], null, async ({ signal }) => {
    const days: Usage[] = [];
    let cursor: string | null = null;
    for (let page = 0; page < MOST_PAGES; page++) {
      const read = await client.usage.read({
        ...READ,
        ...span,
        signal,
        groupBy: 'day',
        limit: MOST,
        ...(cursor !== null && { cursor }),
      });
      days.push(...read.items);
      cursor = read.nextCursor;
      if (cursor === null) break;
    }
    return days;
  }),
  ...ANEW,
});
