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
  description:
    "From the issue's address: `owner/name#N`, `KEY-N` or the last path segment. Without an issue: `T-<n>`.",
});
const TaskTitle = Text('Water the plants');
const Status = Enum(TASK_STATUSES, {
  description:
    'The set status. If none is set: `done` if a pull request of a thread is merged, else `in_review` if one is open, else `in_progress` if a thread is not archived, else `open`.',
});

/** In characters. */
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
  threadIds: Type.Array(Id('thr'), { description: 'In the order of their creation.' }),
  createdByUserId: Type.String({ examples: ['sa_01k9x3v5e8f7arh2m4t6w8y0zb'] }),
  createdAt: Time,
  updatedAt: Time,
});

/** A task in the response of its thread. */
export const TaskOfThread = Type.Object({
  id: Id('task'),
  identifier: Identifier,
  title: TaskTitle,
  status: Status,
  threadIndex: Counter,
});
