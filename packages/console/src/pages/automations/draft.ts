/** An automation as a form: text and words, without the secret of a hook, which is kept nowhere. */
import type { Automation, CreateAutomationBodyTrigger, CreateAutomationInput } from '@headrace/client';

export type Kind = Automation['trigger']['kind'];
export type Op = Automation['filter'][number]['op'];
export type EventName = Extract<Automation['trigger'], { kind: 'event' }>['types'][number];
type Source = Extract<Automation['trigger'], { kind: 'webhook' }>['source'];

export interface Rule {
  path: string;
  op: Op;
  /** JSON, or text that is none. */
  value: string;
}

export interface Draft {
  projectId: string | null;
  name: string;
  prompt: string;
  kind: Kind;
  cron: string;
  timeZone: string;
  types: EventName[];
  source: Source;
  defaults: { organizationSlug: string; projectSlug: string; projectId: string };
  filter: Rule[];
  modelId: string;
  baseBranch: string;
  pullRequest: Automation['pullRequest'];
  overlap: Automation['overlap'];
  catchUp: boolean;
  /** In dollars. */
  spendLimit: string;
  monthlyLimit: string;
  disableAfter: string;
}

/** A new one, in the time zone of the browser. */
export const NEW: Draft = {
  projectId: null,
  name: '',
  prompt: '',
  kind: 'schedule',
  cron: '0 9 * * MON-FRI',
  timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone || 'UTC',
  types: [],
  source: 'generic',
  defaults: { organizationSlug: '', projectSlug: '', projectId: '' },
  filter: [],
  modelId: '',
  baseBranch: '',
  pullRequest: 'none',
  overlap: 'skip',
  catchUp: true,
  spendLimit: '',
  monthlyLimit: '',
  disableAfter: '5',
};

const inDollars = (micros: number | null) => (micros === null ? '' : String(micros / 1e6));

export function draftOf(automation: Automation): Draft {
  const { trigger } = automation;
  return {
    ...NEW,
    projectId: automation.projectId,
    name: automation.name,
    prompt: automation.prompt,
    kind: trigger.kind,
    ...(trigger.kind === 'schedule' && { cron: trigger.cron, timeZone: trigger.timeZone }),
    ...(trigger.kind === 'event' && { types: trigger.types }),
    ...(trigger.kind === 'webhook' && {
      source: trigger.source,
      defaults: { ...NEW.defaults, ...trigger.defaults },
    }),
    filter: automation.filter.map(({ path, op, value }) => ({ path, op, value: textOf(value) })),
    modelId: automation.modelId ?? '',
    baseBranch: automation.baseBranch ?? '',
    pullRequest: automation.pullRequest,
    overlap: automation.overlap,
    catchUp: automation.catchUp,
    spendLimit: inDollars(automation.spendLimitMicros),
    monthlyLimit: inDollars(automation.monthlyLimitMicros),
    disableAfter: automation.disableAfterFailures === null ? '' : String(automation.disableAfterFailures),
  };
}

/** Text stands as it is, unless it would be read as other JSON. */
function textOf(value: unknown): string {
  if (value === undefined) return '';
  if (typeof value === 'string' && valueOf(value) === value) return value;
  return JSON.stringify(value);
}

/** JSON as what it says; anything else as text. */
export function valueOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

const microsOf = (text: string) => (text.trim() === '' ? null : Math.round(Number(text) * 1e6));

/** What the form says as a whole. `secret`: the sender's own; null for none. */
export function bodyOf(draft: Draft, secret: string | null): CreateAutomationInput {
  return {
    projectId: draft.projectId ?? '',
    name: draft.name.trim(),
    prompt: draft.prompt,
    trigger: triggerOf(draft, secret),
    filter:
      draft.kind === 'schedule'
        ? []
        : draft.filter.map(({ path, op, value }) => ({
            path: path.trim(),
            op,
            ...(op !== 'exists' && { value: valueOf(value) }),
          })),
    modelId: draft.modelId.trim() || null,
    baseBranch: draft.baseBranch.trim() || null,
    pullRequest: draft.pullRequest,
    overlap: draft.overlap,
    catchUp: draft.catchUp,
    spendLimitMicros: microsOf(draft.spendLimit),
    monthlyLimitMicros: microsOf(draft.monthlyLimit),
    disableAfterFailures: draft.disableAfter.trim() === '' ? null : Number(draft.disableAfter),
  };
}

function triggerOf(draft: Draft, secret: string | null): CreateAutomationBodyTrigger {
  if (draft.kind === 'schedule')
    return { kind: 'schedule', cron: draft.cron.trim(), timeZone: draft.timeZone };
  if (draft.kind === 'event') return { kind: 'event', types: draft.types };
  const defaults = Object.fromEntries(
    Object.entries(draft.defaults)
      .map(([name, value]) => [name, value.trim()])
      .filter(([, value]) => value !== ''),
  );
  return {
    kind: 'webhook',
    source: draft.source,
    ...(secret !== null && { secret }),
    ...(draft.source === 'error_tracker' && Object.keys(defaults).length > 0 && { defaults }),
  };
}

/** Only what differs from what is stored; a trigger is replaced whole. */
export function changesOf(stored: Automation, draft: Draft, secret: string | null) {
  const before = bodyOf(draftOf(stored), null) as unknown as Record<string, unknown>;
  return Object.fromEntries(
    Object.entries(bodyOf(draft, secret)).filter(
      ([name, value]) => name !== 'projectId' && JSON.stringify(value) !== JSON.stringify(before[name]),
    ),
  );
}

const MONEY = /^\d+(\.\d{1,6})?$/;
export type Wrong = Partial<Record<'spendLimit' | 'monthlyLimit' | 'disableAfter', string>>;

/** Faults that need no service to be seen. */
export function wrongIn({ spendLimit, monthlyLimit, disableAfter }: Draft): Wrong {
  const wrong: Wrong = {};
  const amount = 'An amount in dollars, such as 12.50, or nothing.';
  if (spendLimit.trim() !== '' && !MONEY.test(spendLimit.trim())) wrong.spendLimit = amount;
  if (monthlyLimit.trim() !== '' && !MONEY.test(monthlyLimit.trim())) wrong.monthlyLimit = amount;
  const most = disableAfter.trim();
  if (most !== '' && !(/^\d+$/.test(most) && Number(most) >= 1 && Number(most) <= 100))
    wrong.disableAfter = 'A whole number from 1 to 100, or nothing.';
  return wrong;
}

/** Why it cannot be sent yet. */
export function missingIn(draft: Draft): string | null {
  if (draft.projectId === null) return 'Choose its project.';
  if (draft.name.trim() === '') return 'Give it a name.';
  if (draft.prompt.trim() === '') return 'Write the prompt.';
  if (draft.kind === 'schedule' && draft.cron.trim() === '') return 'Say when it starts.';
  if (draft.kind === 'event' && draft.types.length === 0) return 'Choose an event.';
  return null;
}

/** Every type that can start one. Written as an object, so that the compiler finds one that is missing. */
const TYPES: Record<EventName, true> = {
  'run.queued': true,
  'run.running': true,
  'run.waiting': true,
  'run.completed': true,
  'run.failed': true,
  'run.cancelled': true,
  'thread.updated': true,
  'thread.deleted': true,
  'message.persisted': true,
  'tool.updated': true,
  'approval.requested': true,
  'approval.resolved': true,
  'checkpoint.created': true,
  'workspace.recovery.updated': true,
  'preview.updated': true,
  'pull_request.updated': true,
  'automation.execution.updated': true,
  'platform.source.imported': true,
  'platform.apply.queued': true,
  'platform.apply.applied': true,
  'platform.apply.conflicted': true,
  'platform.apply.failed': true,
  'platform.build.queued': true,
  'platform.build.building': true,
  'platform.build.ready': true,
  'platform.build.failed': true,
  'platform.head.updated': true,
};
export const EVENT_NAMES = Object.keys(TYPES) as EventName[];
