/** The events that a webhook may have. */
import type { CreateWebhookBodyTypes } from '@headrace/client';

export type Chosen = CreateWebhookBodyTypes[number];
type EventType = Exclude<Chosen, '*' | `${string}.*`>;

/** Each type that the service delivers: the compiler says when one is missing. */
export const EVENT_WORDS: Record<EventType, string> = {
  'thread.updated': 'a thread is made or changes',
  'thread.deleted': 'a thread is deleted',
  'run.queued': 'a run waits for its turn',
  'run.running': 'a run has begun',
  'run.waiting': 'a run waits for an approval',
  'run.completed': 'a run has ended well',
  'run.failed': 'a run has failed',
  'run.cancelled': 'a run was stopped',
  'message.persisted': 'a message is stored',
  'tool.updated': 'a tool call begins or ends',
  'approval.requested': 'an approval is asked for',
  'approval.resolved': 'an approval is given, denied or expired',
  'checkpoint.created': 'a run has left a version to return to',
  'workspace.recovery.updated': 'a lost workspace is made again',
  'preview.updated': 'a preview starts, is ready, fails or stops',
  'pull_request.updated': 'a pull request changes',
  'automation.execution.updated': 'an execution of an automation changes',
  'operation.updated': 'a write is settled',
  'platform.source.imported': 'a version of files is imported',
  'platform.apply.queued': 'an apply waits for its turn',
  'platform.apply.applied': 'an apply has moved the head',
  'platform.apply.conflicted': 'an apply has conflicts',
  'platform.apply.failed': 'an apply has failed',
  'platform.build.queued': 'a build waits for its turn',
  'platform.build.building': 'a build has begun',
  'platform.build.ready': 'a build is ready',
  'platform.build.failed': 'a build has failed',
  'platform.head.updated': 'a head has moved',
};

export const EVENT_TYPES = Object.keys(EVENT_WORDS) as EventType[];

/** Of a test; on no feed. */
export const PING = 'webhook.ping';

export const groupOf = (type: string): string => `${type.slice(0, type.lastIndexOf('.'))}.*`;

/** `run.*` and its types. */
export const GROUPS: readonly { group: string; types: EventType[] }[] = [
  ...new Set(EVENT_TYPES.map(groupOf)),
].map((group) => ({ group, types: EVENT_TYPES.filter((type) => groupOf(type) === group) }));

/** The service takes so many. */
export const MOST_TYPES = 30;

/** What is chosen after a box was ticked or not: a group stands for its types. */
export function toggled(chosen: readonly string[], type: string, isOn: boolean): string[] {
  const others = chosen.filter((one) => one !== type && !(type.endsWith('.*') && groupOf(one) === type));
  return isOn ? [...others, type] : others;
}

/** What this console does not know, as a newer service may have it. */
export const unknownOf = (chosen: readonly string[]): string[] =>
  chosen.filter(
    (type) =>
      type !== '*' && !Object.hasOwn(EVENT_WORDS, type) && !GROUPS.some(({ group }) => group === type),
  );

/** An empty list means all, too. */
export const isAll = (types: readonly string[]): boolean => types.length === 0 || types.includes('*');
