/** The types of events that there are, by what they are about. */
import type { EventType } from '@headrace/client';

const GROUPS = ['Threads', 'Runs', 'Work', 'Apps', 'Sources and heads', 'Applies', 'Builds'] as const;
type Group = (typeof GROUPS)[number];

const GROUP_OF: Record<EventType, Group> = {
  'thread.updated': 'Threads',
  'thread.deleted': 'Threads',
  'message.persisted': 'Threads',
  'checkpoint.created': 'Threads',
  'workspace.recovery.updated': 'Threads',
  'run.queued': 'Runs',
  'run.running': 'Runs',
  'run.waiting': 'Runs',
  'run.completed': 'Runs',
  'run.failed': 'Runs',
  'run.cancelled': 'Runs',
  'tool.updated': 'Runs',
  'approval.requested': 'Runs',
  'approval.resolved': 'Runs',
  'preview.updated': 'Work',
  'pull_request.updated': 'Work',
  'automation.execution.updated': 'Work',
  'operation.updated': 'Work',
  'platform.app.created': 'Apps',
  'platform.app.updated': 'Apps',
  'platform.app.deleted': 'Apps',
  'platform.source.imported': 'Sources and heads',
  'platform.head.updated': 'Sources and heads',
  'platform.apply.queued': 'Applies',
  'platform.apply.applied': 'Applies',
  'platform.apply.conflicted': 'Applies',
  'platform.apply.failed': 'Applies',
  'platform.build.queued': 'Builds',
  'platform.build.building': 'Builds',
  'platform.build.ready': 'Builds',
  'platform.build.failed': 'Builds',
};

export const TYPE_GROUPS: readonly { name: Group; types: string[] }[] = GROUPS.map((name) => ({
  name,
  types: Object.entries(GROUP_OF)
    .filter(([, group]) => group === name)
    .map(([type]) => type),
}));
