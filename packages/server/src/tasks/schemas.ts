import Type from 'typebox';
import type { TaskStatus } from '../db/schema.ts';
import { Counter, Enum, Id, Nullable, Text, Time } from '../http/schemas.ts';

export const TASK_STATUSES = [
  'open',
  'in_progress',
  'in_review',
  'done',
  'cancelled',
] as const satisfies TaskStatus[];

const Identifier = Text('T-1', {
  description: "`owner/name#N` or `KEY-N` of its issue's address, else the end of that; without one `T-<n>`.",
});
const TaskTitle = Text('Water the plants');
const Status = Enum(TASK_STATUSES, {
  description:
    'What was set, else what follows from its threads: a pull request is merged, one is open, a thread is not archived.',
});

/** Characters. */
export const MAX_TITLE = 500;
export const NewTitle = Text('Water the plants', { minLength: 1, maxLength: MAX_TITLE });

export const Task = Type.Object({
  id: Id('task'),
  orgId: Id('org'),
  projectId: Id('prj'),
  identifier: Identifier,
  title: TaskTitle,
  status: Status,
  trackerIssueUrl: Nullable(Type.String({ examples: ['https://tracker.example.com/TASK-1'] })),
  threadIds: Type.Array(Id('thr'), { description: 'In the order in which they were created.' }),
  createdByUserId: Type.String({ examples: ['sa_01k9x3v5e8f7arh2m4t6w8y0zb'] }),
  createdAt: Time,
  updatedAt: Time,
});

/** As its threads show it. */
export const TaskOfThread = Type.Object({
  id: Id('task'),
  identifier: Identifier,
  title: TaskTitle,
  status: Status,
  threadIndex: Counter,
});
