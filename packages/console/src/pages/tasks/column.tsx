import type { Page, Task } from '@headrace/client';
import type { InfiniteData, UseInfiniteQueryResult } from '@tanstack/react-query';
import { useState } from 'react';
import { itemsOf } from '../../api/query.ts';
import { Button } from '../../ui/button.tsx';
import { Skeleton } from '../../ui/states.tsx';
import { Status } from '../../ui/status.tsx';
import { hasTask, takeTask } from './drag.ts';
import { TaskRow } from './task-row.tsx';
import { lookOf } from './words.ts';
import type { TaskStatus } from './words.ts';

interface ColumnProps {
  status: TaskStatus;
  query: UseInfiniteQueryResult<InfiniteData<Page<Task>>>;
  /** Null where all tasks are of one project. */
  nameOf: ((projectId: string) => string) | null;
  /** Null: this user may not change tasks. */
  onMove: ((task: Pick<Task, 'id' | 'identifier'>, status: TaskStatus | null) => void) | null;
}

/** The tasks of one status, the newest first. Where there is no room for columns, they follow each other. */
export function Column({ status, query, nameOf, onMove }: ColumnProps) {
  const [isOver, setOver] = useState(false);
  const tasks = itemsOf(query.data);
  const { word } = lookOf(status);
  return (
    <section
      aria-label={word}
      className={`min-w-0 border-line @min-[900px]:border-r @min-[900px]:last:border-r-0 ${isOver ? 'bg-water-wash' : ''}`}
      onDragOver={(event) => {
        if (!onMove || !hasTask(event.dataTransfer)) return;
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        setOver(false);
        const task = takeTask(event.dataTransfer);
        if (!task || !onMove) return;
        event.preventDefault();
        if (task.status !== status) onMove(task, status);
      }}
    >
      <h2 className="flex min-h-9 items-center gap-2 border-b border-line bg-sunk px-4 font-bold @min-[900px]:px-3">
        <Status {...lookOf(status)} />
        {query.data && (
          <span className="font-normal text-ink-3 tabular-nums">
            {tasks.length}
            {query.hasNextPage && '+'}
          </span>
        )}
      </h2>
      {!query.data && !query.error && <Skeleton lines={2} height={72} />}
      <ul aria-label={`Tasks: ${word}`}>
        {tasks.map((task) => (
          <TaskRow
            key={task.id}
            task={task}
            projectName={nameOf?.(task.projectId)}
            onSet={onMove && ((next) => onMove(task, next))}
          />
        ))}
      </ul>
      {query.hasNextPage && (
        <div className="px-4 py-2 @min-[900px]:px-3">
          <Button
            aria-label={`Show more: ${word}`}
            isPending={query.isFetchingNextPage}
            onPress={() => void query.fetchNextPage()}
          >
            Show more
          </Button>
        </div>
      )}
    </section>
  );
}
