import type { Session } from '@headrace/client';
import { HeadraceError } from '@headrace/client';
import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { client } from '../../api/client.ts';
import { sessionsQuery } from '../../api/queries.ts';
import { itemsOf, READ } from '../../api/query.ts';
import { useOffReason, useWrite } from '../../api/write.ts';
import { AsCode } from '../../ui/as-code.tsx';
import { Button } from '../../ui/button.tsx';
import { Confirm } from '../../ui/dialog.tsx';
import { FaultLine } from '../../ui/fault-line.tsx';
import { useKeptFocus } from '../../ui/kept-focus.ts';
import { notify } from '../../ui/notices.tsx';
import { Section } from '../../ui/page.tsx';
import { ShowMore } from '../../ui/show-more.tsx';
import { Shown, Skeleton } from '../../ui/states.tsx';
import { Time } from '../../ui/values.tsx';
import { browserOf } from './browser.ts';

/** Where the user is signed in. */
export function Sessions() {
  const sessions = useInfiniteQuery(sessionsQuery());
  const others = itemsOf(sessions.data).filter(({ current }) => !current).length;
  const kept = useKeptFocus();
  return (
    <div {...kept}>
      <Section title="Open sessions" actions={others > 0 && <EndOthers />}>
        <Shown query={sessions} skeleton={<Skeleton lines={2} />}>
          {(data) => (
            <>
              <ul aria-label="Open sessions" className="border-t border-line">
                {itemsOf(data).map((session) => (
                  <Row key={session.id} session={session} />
                ))}
              </ul>
              <ShowMore list={sessions} />
            </>
          )}
        </Shown>
      </Section>
    </div>
  );
}

/** Each by itself, as the service ends one at a time; also those that are not shown yet. */
function EndOthers() {
  const queries = useQueryClient();
  const off = useOffReason();
  const [isAsked, setAsked] = useState(false);
  const end = useWrite({
    intent: 'end all other sessions',
    call: async () => {
      for await (const { id, current } of client.sessions.list({ ...READ, limit: 200 }))
        if (!current) await endOne(id);
    },
    onDone: () => notify('You are signed in here only.'),
  });
  const endAll = async () => {
    await end.sendAsync(undefined).catch(() => {});
    await queries.invalidateQueries({ queryKey: sessionsQuery().queryKey });
  };
  return (
    <>
      <FaultLine fault={end.fault} />
      <Button isPending={end.isSending} offBecause={off} onPress={() => setAsked(true)}>
        End all others
      </Button>
      <Confirm
        title="End all other sessions"
        verb="End them"
        isOpen={isAsked}
        onClose={() => setAsked(false)}
        onConfirm={() => void endAll()}
      >
        Every other browser and command line has to sign in again. This one stays signed in.
      </Confirm>
    </>
  );
}

/** One that has ended meanwhile is what was wanted. */
async function endOne(id: string): Promise<void> {
  try {
    await client.sessions.end(id);
  } catch (error) {
    if (!(error instanceof HeadraceError && error.status === 404)) throw error;
  }
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
            isSession
            ts={`await client.sessions.end('${id}');`}
            cli={`headrace sessions end ${id}`}
          />
          <Button isPending={end.isSending} offBecause={off} onPress={() => end.send(null)}>
            End
          </Button>
        </div>
      )}
    </li>
  );
}
