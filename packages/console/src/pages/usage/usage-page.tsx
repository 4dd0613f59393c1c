/** What runs have used and cost, of which time and by what. */
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { lazy, useMemo } from 'react';
import type { Usage } from '@headrace/client';
import { serviceNow } from '../../api/clock.ts';
import { itemsOf } from '../../api/query.ts';
import { groupOf, usageDaysQuery, usageQuery } from '../../api/team-queries.ts';
import type { GroupBy } from '../../api/team-queries.ts';
import { Part } from '../../app/part.tsx';
import { Button } from '../../ui/button.tsx';
import { Choices } from '../../ui/choices.tsx';
import { csvOf, saveCsv } from '../../ui/csv.ts';
import { Field } from '../../ui/fields.tsx';
import { Page } from '../../ui/page.tsx';
import { ShowMore } from '../../ui/show-more.tsx';
import { Empty, Shown, Skeleton } from '../../ui/states.tsx';
import { count, dollars, plural } from '../../ui/values.tsx';
import { Limits } from './limits.tsx';
import { allDays, faultOfDays, spanOf, usualDays } from './span.ts';
import type { Days } from './span.ts';
import { FIELDS, totalOf } from './sums.ts';
import { UsageTable } from './usage-table.tsx';

const route = getRouteApi('/signed-in/organization/usage');
/** Only who comes here needs what draws. */
const Chart = lazy(async () => ({ default: (await import('./chart.tsx')).Chart }));
const CHART_HEIGHT = 160;
const GROUPS: { id: GroupBy; text: string }[] = [
  { id: 'day', text: 'day' },
  { id: 'project', text: 'app or project' },
  { id: 'thread', text: 'thread' },
  { id: 'model', text: 'model' },
];
const NONE: Usage[] = [];

export function UsagePage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const usual = usualDays(serviceNow());
  const { from, to } = { ...usual[0]!, ...search };
  const days: Days = { from, to };
  const groupBy = search.groupBy ?? 'day';
  const fault = faultOfDays(days);
  const span = spanOf(days);
  const byDay = useQuery({ ...usageDaysQuery(span), enabled: fault === null });
  const groups = useInfiniteQuery({
    ...usageQuery(span, groupBy),
    enabled: fault === null && groupBy !== 'day',
  });
  const go = (next: Partial<Days & { groupBy: GroupBy }>) =>
    void navigate({ search: (before) => ({ ...before, ...next }), replace: true });
  const shown = groupBy === 'day' ? byDay : groups;
  const usage = useMemo(
    () =>
      groupBy === 'day'
        ? (byDay.data ?? NONE)
        : itemsOf(
            groups.data && {
              pages: groups.data.pages.map((page) => ({
                ...page,
                items: page.items.map((line) => ({ ...line, id: groupOf(line) })),
              })),
            },
          ),
    [groupBy, byDay.data, groups.data],
  );
  return (
    <Page
      title="Usage"
      actions={
        <Button
          offBecause={usage.length === 0 ? 'Nothing is shown.' : null}
          onPress={() => saveCsv(`usage-by-${groupBy}-${from}-${to}.csv`, csv(groupBy, usage))}
        >
          Save as CSV
        </Button>
      }
    >
      <div className="flex flex-wrap items-end gap-x-4 gap-y-2 px-4 pb-3">
        <span className="w-36">
          <Field label="From" type="date" value={from} onChange={(day) => go({ from: day })} />
        </span>
        <span className="w-36">
          <Field label="To, included" type="date" value={to} onChange={(day) => go({ to: day })} />
        </span>
        <span className="flex flex-wrap">
          {usual.map(({ text, ...chosen }) => (
            <Button
              key={text}
              kind="quiet"
              aria-pressed={chosen.from === from && chosen.to === to}
              onPress={() => go(chosen)}
            >
              {text}
            </Button>
          ))}
        </span>
        <Choices
          label="By"
          choices={GROUPS}
          value={groupBy}
          onChange={(id) => go({ groupBy: id as GroupBy })}
        />
      </div>
      {fault === null ? (
        <>
          <Shown query={byDay} skeleton={<Skeleton lines={1} height={CHART_HEIGHT + 40} />}>
            {(all) => <Overview days={days} usage={all} />}
          </Shown>
          {(groupBy !== 'day' || byDay.data) && (
            <Shown<unknown> query={shown}>
              {() =>
                usage.length > 0 && (
                  <UsageTable groupBy={groupBy} usage={usage} total={byDay.data && totalOf(byDay.data)} />
                )
              }
            </Shown>
          )}
          {groupBy !== 'day' && <ShowMore list={groups} />}
        </>
      ) : (
        <p role="alert" className="px-4 pb-4 text-fail">
          {fault}
        </p>
      )}
      <Limits />
    </Page>
  );
}

/** The total in words, and its bars by day. */
function Overview({ days: { from, to }, usage }: { days: Days; usage: readonly Usage[] }) {
  const total = totalOf(usage);
  const hasCost = total.costMicros > 0;
  const bars = useMemo(() => {
    const of = new Map(usage.map((line) => [line.day, hasCost ? line.costMicros : line.runs]));
    const all = allDays({ from, to }, usage.map(groupOf));
    return { days: all, values: all.map((day) => of.get(day) ?? 0) };
  }, [from, to, usage, hasCost]);
  if (usage.length === 0)
    return (
      <Empty title="Nothing was used in this time">
        <p>Each run of an agent adds its tokens and its cost to the day on which it begins, in UTC.</p>
      </Empty>
    );
  const said = `${dollars(total.costMicros)} for ${plural(total.runs, 'run')}`;
  return (
    <div className="flex flex-col gap-2 px-4 pb-3">
      <p>
        {said}
        <span className="text-ink-3"> · {hasCost ? 'cost' : 'runs'} by day, UTC</span>
      </p>
      <Part fallback={<div data-loading style={{ height: CHART_HEIGHT }} />}>
        <Chart
          {...bars}
          isWhole={!hasCost}
          show={hasCost ? dollars : count}
          label={`${hasCost ? 'Cost' : 'Runs'} by day from ${from} to ${to}: ${said}. Grouped by day, the table has each.`}
        />
      </Part>
    </div>
  );
}

const csv = (groupBy: GroupBy, usage: readonly Usage[]): string =>
  csvOf(
    groupBy === 'thread'
      ? ['threadId', 'projectId', ...FIELDS]
      : [groupBy === 'day' ? 'day' : `${groupBy}Id`, ...FIELDS],
    usage.map((line) => [
      groupOf(line),
      ...(groupBy === 'thread' ? [line.projectId] : []),
      ...FIELDS.map((field) => line[field]),
    ]),
  );
