/** Automations and executions in words. */
import type { Automation, Execution } from '@headrace/client';

type Trigger = Automation['trigger'];

export const SOURCES = {
  generic: 'any system',
  error_tracker: 'an error tracker',
  tracker: 'an issue tracker',
} as const;

/** When it starts, in one line. */
export function triggerWords(trigger: Trigger): string {
  if (trigger.kind === 'schedule') return `${trigger.cron}, ${trigger.timeZone}`;
  if (trigger.kind === 'event') return `on ${trigger.types.join(', ')}`;
  if (trigger.kind === 'webhook') return `when ${SOURCES[trigger.source] ?? 'a system'} calls its hook`;
  // A kind that this console does not know.
  return (trigger as { kind: string }).kind;
}

/** Whether it starts by itself, for `Status`. */
export function stateOf({ disabled, disabledReason }: Pick<Automation, 'disabled' | 'disabledReason'>) {
  if (!disabled) return { status: 'ready', word: 'enabled' };
  return disabledReason === 'failures'
    ? { status: 'blocked', word: 'disabled by failures' }
    : { status: 'stopped', word: 'disabled' };
}

/** What started an execution. */
export function startedBy({ kind, eventType }: Execution['trigger']): string {
  switch (kind) {
    case 'schedule':
      return 'by its schedule';
    case 'event':
      return eventType === null ? 'by an event' : `by ${eventType}`;
    case 'webhook':
      return 'by its hook';
    case 'manual':
      return 'by hand';
    default:
      return kind;
  }
}

const SKIPPED: Record<string, string> = {
  overlap: 'Another execution was open.',
  queue_full: 'Ten executions waited already.',
  limit: 'The threads of this month have cost the monthly limit.',
  rate: 'Sixty executions by events and hooks had started within an hour.',
  loop: 'The chain of automations that start each other was too long.',
};

/** Why an execution was skipped. A reason that this console does not know is shown as it is. */
export const skippedWords = (reason: string): string => SKIPPED[reason] ?? reason;

/** `skipped` has no look of its own. */
export const lookOf = (status: string): { status: string; word: string } =>
  status === 'skipped' ? { status: 'cancelled', word: 'skipped' } : { status, word: status };

const PLACE = new Map<string, Intl.DateTimeFormat>();

/** The service may know zones that this browser does not. */
function isKnown(timeZone: string): boolean {
  try {
    return Boolean(new Intl.DateTimeFormat('en', { timeZone }));
  } catch {
    return false;
  }
}

/** `Tue 24 Nov, 09:00` in a time zone. */
export function timeIn(timeZone: string, at: string): string {
  let format = PLACE.get(timeZone);
  if (!format) {
    format = new Intl.DateTimeFormat('en-GB', {
      ...(isKnown(timeZone) ? { timeZone } : { timeZone: 'UTC', timeZoneName: 'short' as const }),
      weekday: 'short',
      day: 'numeric',
      month: 'short',
      hour: '2-digit',
      minute: '2-digit',
    });
    PLACE.set(timeZone, format);
  }
  return format.format(new Date(at));
}
