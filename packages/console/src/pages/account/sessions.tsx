import type { Session } from '@headrace/client';
import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { client } from '../../api/client.ts';
import { itemsOf, sessionsQuery } from '../../api/queries.ts';
import { useOffReason, useWrite } from '../../api/write.ts';
import { AsCode } from '../../ui/as-code.tsx';
import { Button } from '../../ui/button.tsx';
import { FaultLine } from '../../ui/fault-line.tsx';
import { notify } from '../../ui/notices.tsx';
import { Section } from '../../ui/page.tsx';
import { Shown, Skeleton } from '../../ui/states.tsx';
import { Time } from '../../ui/values.tsx';
import { browserOf } from './browser.ts';

/** Where the user is signed in. */
export function Sessions() {
  const sessions = useInfiniteQuery(sessionsQuery());
  return (
    <Section title="Open sessions">
      <Shown query={sessions} skeleton={<Skeleton lines={2} />}>
        {(data) => (
          <>
            <ul aria-label="Open sessions" className="border-t border-line">
              {itemsOf(data).map((session) => (
                <Row key={session.id} session={session} />
              ))}
            </ul>
            {sessions.hasNextPage && (
              <div className="p-3">
                <Button isPending={sessions.isFetchingNextPage} onPress={() => void sessions.fetchNextPage()}>
                  Show more
                </Button>
              </div>
            )}
          </>
        )}
      </Shown>
    </Section>
  );
}

function Row({ session: { id, current, address, userAgent, createdAt, lastSeenAt } }: { session: Session }) {
  const queries = useQueryClient();
  const off = useOffReason();
  const end = useWrite({
    intent: `end session ${id}`,
    call: (_: null, options) => client.sessions.end(id, options),
    onDone: () => {
      notify('The session has ended.');
      void queries.invalidateQueries({ queryKey: sessionsQuery().queryKey });
    },
  });
  return (
    <li className="row flex-wrap">
      <div className="min-w-0 flex-1 basis-60">
        <p className="long" title={userAgent ?? undefined}>
          {browserOf(userAgent)}
          {current && <span className="text-done"> · this one</span>}
        </p>
        <p className="text-12 text-ink-3">
          {address !== null && (
            <>
              <span className="font-mono">{address}</span> ·{' '}
            </>
          )}
          seen <Time at={lastSeenAt} /> · signed in <Time at={createdAt} />
        </p>
        <FaultLine fault={end.fault} />
      </div>
      {!current && (
        <div className="flex items-center gap-1">
          <AsCode
            method="DELETE"
            path={`/api/sessions/${id}`}
            ts={`// Only with a session, not with a key.\nawait client.sessions.end('${id}');`}
          />
          <Button isPending={end.isSending} offBecause={off} onPress={() => end.send(null)}>
            End
          </Button>
        </div>
      )}
    </li>
  );
}
