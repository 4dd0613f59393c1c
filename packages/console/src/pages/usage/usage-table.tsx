import type { Usage } from '@headrace/client';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { allThreadsQuery, projectNamesQuery } from '../../api/queries.ts';
import { itemsOf } from '../../api/query.ts';
import { groupOf } from '../../api/team-queries.ts';
import type { GroupBy } from '../../api/team-queries.ts';
import { Plain } from '../../code/plain.tsx';
import { count, dollars, Id } from '../../ui/values.tsx';
import { FIELDS } from './sums.ts';
import type { Sums } from './sums.ts';

const GROUPS: Record<GroupBy, string> = {
  day: 'Day',
  project: 'App or project',
  thread: 'Thread',
  model: 'Model',
};
const COLUMNS = ['Runs', 'Input tokens', 'of them cached', 'Output tokens', 'Cost'];

export function UsageTable({
  groupBy,
  usage,
  total,
}: {
  groupBy: GroupBy;
  usage: readonly Usage[];
  /** Of the whole time, also of groups that are not loaded yet. */
  total: Sums | undefined;
}) {
  return (
    <div tabIndex={0} role="region" aria-label="Usage" className="overflow-x-auto border-t border-line">
      <table className="table whitespace-nowrap tabular-nums">
        <thead>
          <tr>
            <th scope="col">{GROUPS[groupBy]}</th>
            {COLUMNS.map((name) => (
              <th key={name} scope="col" className="text-right">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {total && (
            <tr className="font-bold">
              <th scope="row" className="border-line text-13 font-bold text-ink">
                Total
              </th>
              <Cells sums={total} />
            </tr>
          )}
          {usage.map((line) => (
            <tr key={groupOf(line)}>
              <td className="max-w-80 truncate">
                <Group groupBy={groupBy} usage={line} />
              </td>
              <Cells sums={line} />
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const Cells = ({ sums }: { sums: Sums }) =>
  FIELDS.map((field) => (
    <td key={field} className="text-right">
      {field === 'costMicros' ? dollars(sums[field]) : count(sums[field])}
    </td>
  ));

function Group({
  groupBy,
  usage: { day, projectId, threadId, modelId },
}: {
  groupBy: GroupBy;
  usage: Usage;
}) {
  if (groupBy === 'day' && day !== null)
    return (
      <Link
        data-row
        to="/organization/usage"
        search={{ from: day, to: day, groupBy: 'thread' }}
        className="link"
        title="The threads of this day"
      >
        {day}
      </Link>
    );
  if (groupBy === 'project' && projectId !== null) return <ProjectLink projectId={projectId} />;
  if (groupBy === 'thread' && threadId !== null)
    return <ThreadLink threadId={threadId} projectId={projectId} />;
  return <Plain text={modelId ?? 'unknown'} />;
}

function ProjectLink({ projectId }: { projectId: string }) {
  const { data } = useInfiniteQuery(projectNamesQuery());
  const name = itemsOf(data).find(({ id }) => id === projectId)?.name;
  return (
    <Link data-row to="/apps/$appId" params={{ appId: projectId }} className="link">
      {name === undefined ? <Id value={projectId} copy={false} /> : <Plain text={name} />}
    </Link>
  );
}

/** The sidebar reads the latest threads: those have titles here. */
function ThreadLink({ threadId, projectId }: { threadId: string; projectId: string | null }) {
  const { data } = useInfiniteQuery(allThreadsQuery({ sort: 'activity' }));
  const thread = itemsOf(data).find(({ id }) => id === threadId);
  const text = thread ? (
    <Plain text={thread.title ?? 'Untitled thread'} />
  ) : (
    <Id value={threadId} copy={false} />
  );
  if (projectId === null) return text;
  return (
    <Link
      data-row
      to="/apps/$appId/threads/$threadId"
      params={{ appId: projectId, threadId }}
      className="link"
    >
      {text}
    </Link>
  );
}
