/** Work that has not moved though it should: why, and what to do about it. */
import type { Stuck as StuckWork } from '@headrace/client';
import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { stuckQuery } from '../../api/running-queries.ts';
import { useSession } from '../../api/session.ts';
import { SubjectLink } from '../../app/subject-link.tsx';
import type { Subject } from '../../app/subject-link.tsx';
import { Plain } from '../../code/index.ts';
import { Select } from '../../ui/fields.tsx';
import { Section } from '../../ui/page.tsx';
import { ShowMore } from '../../ui/show-more.tsx';
import { Shown, Skeleton } from '../../ui/states.tsx';
import { Status } from '../../ui/status.tsx';
import { Id, Time, duration } from '../../ui/values.tsx';

const route = getRouteApi('/signed-in/system');
const DEFAULT_SECONDS = 300;
const CHOICES = [60, 300, 900, 3600, 86_400];

const textOf = (seconds: number) =>
  seconds % 3600 === 0
    ? `${seconds / 3600} h`
    : seconds % 60 === 0
      ? `${seconds / 60} min`
      : duration(seconds * 1000);

export function Stuck() {
  const { seconds = DEFAULT_SECONDS } = route.useSearch();
  const navigate = route.useNavigate();
  const stuck = useInfiniteQuery(stuckQuery(seconds));
  const choices = [...new Set([...CHOICES, seconds])].toSorted((a, b) => a - b);
  return (
    <Section
      title="Stuck work"
      actions={
        <Select
          quiet
          label="Has not moved for"
          value={String(seconds)}
          choices={choices.map((one) => ({ id: String(one), text: `not moved for ${textOf(one)}` }))}
          onChange={(id) =>
            void navigate({ search: (now) => ({ ...now, seconds: Number(id) }), replace: true })
          }
        />
      }
    >
      <Shown query={stuck} skeleton={<Skeleton lines={1} height={28} />}>
        {({ pages }) => {
          const items = pages.flatMap((page) => page.items);
          return items.length === 0 ? (
            <p className="min-h-7 px-4 pb-2 text-ink-2">Nothing is stuck.</p>
          ) : (
            <ul aria-label="Stuck work">
              {items.map((item) => (
                <Row key={`${item.kind} ${item.id}`} item={item} />
              ))}
            </ul>
          );
        }}
      </Shown>
      <ShowMore list={stuck} />
    </Section>
  );
}

/** A cleanup of a thread is named by it; of a project or an organization there is nothing to see any more. */
const subjectOf = ({ kind, id, projectId, threadId }: StuckWork): Subject | null =>
  kind === 'cleanup' && !threadId ? null : { id, projectId, threadId };

function Row({ item }: { item: StuckWork }) {
  const { activeOrganizationId } = useSession();
  const isOwn = item.orgId === null || item.orgId === activeOrganizationId;
  const subject = isOwn ? subjectOf(item) : null;
  return (
    <li className="flex flex-wrap gap-x-3 gap-y-1 border-b border-line px-4 py-2">
      <span className="w-28 shrink-0">
        <Status status="blocked" word={item.kind} />
      </span>
      <div className="min-w-0 flex-[1_1_280px]">
        <p className="flex flex-wrap items-center gap-x-3">
          {subject ? <SubjectLink subject={subject} /> : <Id value={item.id} />}
          {!isOwn && (
            <span className="flex flex-wrap items-center gap-x-1 text-ink-3">
              of another organization <Id value={item.orgId!} />
            </span>
          )}
          <span className="ml-auto text-12 text-ink-3">
            since <Time at={item.since} />
          </span>
        </p>
        <p className="long">
          <Plain text={item.reason} />
        </p>
        <p className="long text-ink-2">
          <span className="text-ink-3">What to do: </span>
          <Plain text={item.remedy} />
        </p>
      </div>
    </li>
  );
}
