import type { Task } from '@headrace/client';
import { Link } from '@tanstack/react-router';
import { Ellipsis } from 'lucide-react';
import { Plain } from '../../code/plain.tsx';
import { OutsideLink } from '../../ui/outside-link.tsx';
import { plural } from '../../ui/values.tsx';
import { putTask } from './drag.ts';
import { StatusMenu } from './status-menu.tsx';

interface RowProps {
  task: Task;
  /** Missing where the list is of one project. */
  projectName?: string | undefined;
  /** Null: this user may not change tasks. */
  onSet: ((status: Task['status'] | null) => void) | null;
}

/** A task in its column. It can be dragged to another one; its menu does the same. */
export function TaskRow({ task, projectName, onSet }: RowProps) {
  const { id: taskId, identifier, title, threadIds, trackerIssueUrl } = task;
  return (
    <li
      draggable={onSet !== null}
      onDragStart={(event) => putTask(event.dataTransfer, task)}
      className="border-b border-line px-4 py-2 @min-[900px]:px-3"
    >
      <div className="flex items-center gap-2">
        <span className="min-w-0 flex-1 truncate font-mono text-mono text-ink-2" title={identifier}>
          <Plain text={identifier} />
        </span>
        {onSet && (
          <span className="-my-1 -mr-2">
            <StatusMenu task={task} kind="quiet" icon={<Ellipsis size={14} />} onSet={onSet} />
          </span>
        )}
      </div>
      <Link
        to="/tasks/$taskId"
        params={{ taskId }}
        data-row
        data-task={placeOf(task)}
        draggable={false}
        className="long line-clamp-3 hover:underline"
      >
        <Plain text={title} />
      </Link>
      <p className="flex min-h-6 flex-wrap items-center gap-x-3 text-12 text-ink-3">
        {projectName !== undefined && (
          <span className="long">
            <Plain text={projectName} />
          </span>
        )}
        {threadIds.length > 0 && <span>{plural(threadIds.length, 'thread')}</span>}
        {trackerIssueUrl !== null && <OutsideLink href={trackerIssueUrl} text="issue" />}
      </p>
    </li>
  );
}

/** Where a task stands on the board. */
export const placeOf = ({ id, status }: Pick<Task, 'id' | 'status'>): string => `${id} ${status}`;
