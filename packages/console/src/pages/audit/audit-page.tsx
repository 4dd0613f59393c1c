/** Who did what, when and from where. */
import type { AuditEntry } from '@headrace/client';
import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useMemo } from 'react';
import { projectNamesQuery } from '../../api/queries.ts';
import { itemsOf } from '../../api/query.ts';
import { accountsQuery, auditQuery, membersOf, membersQuery } from '../../api/team-queries.ts';
import { Button } from '../../ui/button.tsx';
import { csvOf, saveCsv } from '../../ui/csv.ts';
import { Find } from '../../ui/find.tsx';
import { Page } from '../../ui/page.tsx';
import { Empty, Shown } from '../../ui/states.tsx';
import { plural } from '../../ui/values.tsx';
import { AuditTable } from './audit-table.tsx';
import type { Names } from './target.tsx';
import { SERVICE, wordsOf } from './words.ts';

const route = getRouteApi('/signed-in/organization/audit');

export function AuditPage() {
  const { query = '' } = route.useSearch();
  const navigate = route.useNavigate();
  const audit = useInfiniteQuery(auditQuery());
  const names = useNames(audit.data !== undefined);
  const entries = useMemo(() => itemsOf(audit.data), [audit.data]);
  const shown = useMemo(
    () => entries.filter((entry) => isFound(entry, names, query)),
    [entries, names, query],
  );
  return (
    <Page
      title="Audit"
      actions={
        <>
          <Find
            label="Find in what is loaded"
            placeholder="Person, action, id, address"
            value={query}
            onChange={(text) => void navigate({ search: text ? { query: text } : {}, replace: true })}
          />
          <Button
            offBecause={shown.length === 0 ? 'Nothing is shown.' : null}
            onPress={() => saveCsv('audit.csv', csv(shown, names))}
          >
            Save as CSV
          </Button>
        </>
      }
    >
      <Shown query={audit}>
        {() => (
          <>
            <p role="status" className="px-4 pb-3 text-ink-2">
              {query === ''
                ? `The newest ${plural(entries.length, 'entry', 'entries')}. The CSV has what is shown.`
                : `${plural(shown.length, 'entry', 'entries')} of the ${entries.length} that are loaded. The service does not search: load older ones to find more.`}
            </p>
            {shown.length === 0 ? (
              <Empty title={query ? 'Nothing of that is loaded' : 'Nothing is recorded yet'}>
                <p>
                  Sign-ins, keys, members, settings, repositories, webhooks, automations and deletions appear
                  here.
                </p>
              </Empty>
            ) : (
              <AuditTable entries={shown} names={names} />
            )}
          </>
        )}
      </Shown>
      {audit.hasNextPage && (
        <div className="px-4 py-3">
          <Button isPending={audit.isFetchingNextPage} onPress={() => void audit.fetchNextPage()}>
            Load older entries
          </Button>
        </div>
      )}
    </Page>
  );
}

/** Of people, service accounts and apps, as far as they are still there. */
function useNames(isShown: boolean): Names {
  const members = useInfiniteQuery({ ...membersQuery(), enabled: isShown }).data;
  const accounts = useInfiniteQuery({ ...accountsQuery(), enabled: isShown }).data;
  const projects = useInfiniteQuery({ ...projectNamesQuery(), enabled: isShown }).data;
  return useMemo(
    () =>
      new Map([
        ...membersOf(members).map(({ userId, name, email }) => [userId, name || email] as const),
        ...itemsOf(accounts).map(({ id, name }) => [id, name] as const),
        ...itemsOf(projects).map(({ id, name }) => [id, name] as const),
      ]),
    [members, accounts, projects],
  );
}

function isFound(entry: AuditEntry, names: Names, query: string): boolean {
  if (query === '') return true;
  const { action, actorId, targetId, address } = entry;
  const actor = actorId === null ? SERVICE : names.get(actorId);
  return [action, wordsOf(action), actorId, actor, targetId, names.get(targetId ?? ''), address].some(
    (text) => text?.toLowerCase().includes(query.toLowerCase()),
  );
}

const csv = (entries: readonly AuditEntry[], names: Names): string =>
  csvOf(
    ['createdAt', 'action', 'actorId', 'actor', 'targetId', 'target', 'address', 'id'],
    entries.map(({ id, action, actorId, targetId, address, createdAt }) => [
      createdAt,
      action,
      actorId,
      actorId === null ? SERVICE : (names.get(actorId) ?? null),
      targetId,
      names.get(targetId ?? '') ?? null,
      address,
      id,
    ]),
  );
