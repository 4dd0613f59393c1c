/** What CI and people report of a commit. */
import type { CommitStatus } from '@headrace/client';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { statusesQuery } from '../../api/repositories-queries.ts';
import { itemsOf } from '../../api/query.ts';
import { useMay } from '../../api/session.ts';
import { Plain } from '../../code/plain.tsx';
import { Button, Toggle } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Shown, Skeleton } from '../../ui/states.tsx';
import { Status } from '../../ui/status.tsx';
import { OutsideLink } from '../../ui/outside-link.tsx';
import { ShowMore } from '../../ui/show-more.tsx';
import { Time } from '../../ui/values.tsx';
import { Mark, State } from './scm-parts.tsx';
import { ReportStatus } from './report-status.tsx';

export function Statuses({
  repositoryId,
  commitSha,
  required,
}: {
  repositoryId: string;
  commitSha: string;
  /** What has to succeed before a merge. */
  required: readonly string[];
}) {
  const [isAll, setAll] = useState(false);
  const [isReporting, setReporting] = useState(false);
  const may = useMay('repo:update');
  const latest = useInfiniteQuery(statusesQuery(repositoryId, commitSha));
  const earlier = useInfiniteQuery({ ...statusesQuery(repositoryId, commitSha, false), enabled: isAll });
  const statuses = isAll ? earlier : latest;
  const reported = new Set(itemsOf(latest.data).map(({ context }) => context));
  const missing =
    latest.data && !latest.hasNextPage ? required.filter((context) => !reported.has(context)) : [];
  return (
    <section aria-label="Checks" className="pb-3">
      <div className="flex flex-wrap items-center gap-2 px-4 py-1">
        <h3 className="mr-auto font-bold">Checks of this commit</h3>
        <Toggle kind="quiet" isSelected={isAll} onChange={setAll}>
          Earlier reports, too
        </Toggle>
        {may && <Button onPress={() => setReporting(true)}>Report a check</Button>}
      </div>
      <Shown query={statuses} skeleton={<Skeleton lines={2} />}>
        {(data) => {
          const items = itemsOf(data);
          if (items.length + missing.length === 0)
            return (
              <p className="px-4 py-2 text-ink-2">
                No check has reported yet. CI reports with a service key; you can report one by hand.
              </p>
            );
          return (
            <ul aria-label="Reports" className="border-t border-line">
              {missing.map((context) => (
                <li key={context} className="row flex-wrap gap-y-0">
                  <span className="w-24 shrink-0">
                    <Status status="waiting" word="awaited" />
                  </span>
                  <Name context={context} isRequired />
                  <span className="text-ink-3">has not reported on this commit</span>
                </li>
              ))}
              {items.map((status) => (
                <Row key={status.id} status={status} isRequired={required.includes(status.context)} />
              ))}
            </ul>
          );
        }}
      </Shown>
      <ShowMore list={statuses} />
      <Dialog title="Report a check" isOpen={isReporting} onClose={() => setReporting(false)}>
        <ReportStatus
          repositoryId={repositoryId}
          commitSha={commitSha}
          suggested={required[0] ?? ''}
          onClose={() => setReporting(false)}
        />
      </Dialog>
    </section>
  );
}

const Name = ({ context, isRequired }: { context: string; isRequired: boolean }) => (
  <span className="flex min-w-0 flex-[1_1_160px] items-center gap-2">
    <span className="truncate font-bold" title={context}>
      <Plain text={context} />
    </span>
    {isRequired && <Mark>required</Mark>}
  </span>
);

function Row({ status, isRequired }: { status: CommitStatus; isRequired: boolean }) {
  const { context, state, description, targetUrl, hasLog, createdAt } = status;
  return (
    <li className="row flex-wrap gap-y-0">
      <span className="w-24 shrink-0">
        <State state={state} />
      </span>
      <Name context={context} isRequired={isRequired} />
      <span className="long flex-[2_1_200px] text-ink-2">
        {description !== null && <Plain text={description} />}
      </span>
      <span className="flex items-center gap-3 text-ink-3">
        {hasLog && <Mark>with a log for agents</Mark>}
        {targetUrl !== null && <OutsideLink href={targetUrl} text="Details" />}
        <Time at={createdAt} />
      </span>
    </li>
  );
}
