/** Where a new thread starts, and what else it is given. */
import type { Project, Source } from '@headrace/client';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { faultOf } from '../../api/faults.ts';
import { itemsOf } from '../../api/query.ts';
import { tasksQuery } from '../../api/work-queries.ts';
import { Button } from '../../ui/button.tsx';
import { Field, Select } from '../../ui/fields.tsx';
import { BranchField } from '../projects/branch-field.tsx';
import { LATEST, SourceSelect } from '../sources/source-select.tsx';
import { limitOf } from '../thread/spend.ts';
import type { NewThreadDraft } from './draft.ts';

interface PartProps {
  app: Project;
  draft: NewThreadDraft;
  change: (part: Partial<NewThreadDraft>) => void;
  /** What is wrong at a JSON pointer. */
  at: (path: string) => string | null;
  isReadOnly: boolean;
}

const isCommit = ({ commit }: Source) => commit !== null;
const isAny = () => true;

/** With a repository, a branch or a commit that was fetched; else the head or another source. */
export function StartsFrom({ app, draft, change, at, isReadOnly }: PartProps) {
  const { id, repositoryId, defaultBranch } = app;
  const hasRepository = repositoryId !== null;
  const fault = at('/sourceId');
  return (
    <div className="flex flex-col gap-2">
      {hasRepository && draft.sourceId === null && (
        <BranchField
          repositoryId={repositoryId}
          label="Starts from the branch"
          placeholder={defaultBranch ?? undefined}
          hint={`Its newest commit is fetched. Empty: ${defaultBranch ?? 'the default branch'}.`}
          value={draft.branch}
          onChange={(branch) => change({ branch })}
          fault={at('/baseBranch')}
          isReadOnly={isReadOnly}
        />
      )}
      <SourceSelect
        appId={id}
        label={hasRepository ? 'Or from a commit that was fetched' : 'Starts from'}
        latest={hasRepository ? 'None: from the branch' : 'The head'}
        isOffered={hasRepository ? isCommit : isAny}
        value={draft.sourceId ?? LATEST}
        known={draft.sourceId ?? undefined}
        onChange={(sourceId) => change({ sourceId: sourceId === LATEST ? null : sourceId })}
      />
      {fault && (
        <p role="alert" className="long text-12 text-fail">
          {fault}
        </p>
      )}
    </div>
  );
}

const NO_TASK = 'none';

/** What few threads need. */
export function OfTheThread({
  app,
  draft,
  change,
  at,
  isReadOnly,
  hasTask,
}: PartProps & { hasTask: boolean }) {
  const { spendLimit, trackerIssueUrl, taskId } = draft;
  const [isOpen, setOpen] = useState(spendLimit !== '' || trackerIssueUrl !== '' || taskId !== null);
  return (
    <details open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary className="min-h-6 cursor-default text-ink-2">
        {app.kind === 'direct' && !hasTask ? 'Spend limit, task and issue' : 'Spend limit'}
      </summary>
      {isOpen && (
        <div className="flex flex-col gap-4 pt-3">
          <Field
            label="Spend limit in US dollars"
            hint="For all of its runs together. Empty: as the settings say."
            inputMode="decimal"
            isReadOnly={isReadOnly}
            value={spendLimit}
            onChange={(next) => change({ spendLimit: next })}
            fault={
              limitOf(spendLimit) === undefined ? 'This is no amount: write 2.50' : at('/spendLimitMicros')
            }
          />
          {app.kind === 'direct' && !hasTask && (
            <>
              <TaskSelect
                projectId={app.id}
                value={taskId}
                onChange={(next) => change({ taskId: next })}
                fault={at('/taskId')}
              />
              <Field
                label="Issue in a tracker"
                hint="Its address. The thread joins the project’s task for it, which is made if there is none."
                placeholder="https://tracker.example.com/TASK-1"
                maxLength={2048}
                isReadOnly={isReadOnly}
                value={trackerIssueUrl}
                onChange={(next) => change({ trackerIssueUrl: next })}
                fault={at('/trackerIssueUrl')}
              />
            </>
          )}
        </div>
      )}
    </details>
  );
}

function TaskSelect({
  projectId,
  value,
  onChange,
  fault,
}: {
  projectId: string;
  value: string | null;
  onChange: (taskId: string | null) => void;
  fault: string | null;
}) {
  const lists = [
    useInfiniteQuery(tasksQuery({ status: 'open', projectId })),
    useInfiniteQuery(tasksQuery({ status: 'in_progress', projectId })),
    useInfiniteQuery(tasksQuery({ status: 'in_review', projectId })),
  ];
  const listed = lists.flatMap(({ data }) => itemsOf(data));
  const error = lists.find((list) => list.error)?.error;
  const older = lists.filter(({ hasNextPage }) => hasNextPage);
  if (listed.length === 0 && value === null && !error) return null;
  const wrong = fault ?? (error ? `The tasks cannot be read now: ${faultOf(error).message}` : null);
  return (
    <div className="flex flex-col gap-1">
      <div className="flex flex-wrap items-end gap-2">
        <Select
          label="Task"
          choices={[
            { id: NO_TASK, text: 'None' },
            ...(value === null || listed.some(({ id }) => id === value) ? [] : [{ id: value, text: value }]),
            ...listed.map(({ id, identifier, title }) => ({
              id,
              text: title === identifier ? title : `${identifier}: ${title.slice(0, 80)}`,
            })),
          ]}
          value={value ?? NO_TASK}
          onChange={(id) => onChange(id === NO_TASK ? null : id)}
        />
        {older.length > 0 && (
          <Button
            kind="quiet"
            isPending={older.some(({ isFetchingNextPage }) => isFetchingNextPage)}
            onPress={() => older.forEach((list) => void list.fetchNextPage())}
          >
            More tasks
          </Button>
        )}
      </div>
      {wrong && (
        <p role="alert" className="long text-12 text-fail">
          {wrong}
        </p>
      )}
    </div>
  );
}
