/** Automations and executions as the API takes and shows them. */
import Type from 'typebox';
import type { Static, TSchema } from 'typebox';
import type { AutomationRow, AutomationTrigger, ExecutionRow, HookSource } from '../db/schema.ts';
import { EVENT_TYPES } from '../events/index.ts';
import type { EventType } from '../events/index.ts';
import {
  Body,
  Counter,
  Enum,
  EXAMPLE_ID,
  Id,
  IdInput,
  Micros,
  Nullable,
  Text,
  Time,
} from '../http/schemas.ts';
import { ModelId } from '../messages/index.ts';
import { Branch } from '../projects/index.ts';
import { Filter } from './filter.ts';

const HOOK_SOURCES = ['generic', 'error_tracker', 'tracker'] as const satisfies HookSource[];
export const EXECUTION_STATUSES = [
  'queued',
  'running',
  'completed',
  'failed',
  'cancelled',
  'skipped',
] as const satisfies ExecutionRow['status'][];

/** The types on the Direct feed, without the receipts of writes. */
const TRIGGER_TYPES = EVENT_TYPES.filter(
  (type) => type !== 'operation.updated' && !type.startsWith('platform.app.'),
);

const Name = Text('Nightly tidying', {
  minLength: 1,
  maxLength: 200,
  description: 'Also the title of its threads.',
});
const Prompt = Text('Tidy up what was merged yesterday.', {
  minLength: 1,
  maxLength: 20_000,
  description:
    'The first message of each thread. `{{root.path}}` is replaced by a value of `payload`, `event`, `automation` or `execution`, on one line and with at most 1,000 characters. `{{payload}}` alone on its line is the whole payload as quoted JSON. `\\{{` is a literal `{{`.',
});
export const CronExpression = Text('0 3 * * MON-FRI', {
  minLength: 1,
  maxLength: 1000,
  description:
    'Five fields: minute, hour, day of month, month, day of week, with names, lists, ranges, steps, `?`, `L`, `W` and `#`; or `@hourly` to `@yearly`. If both day fields are set, either one matches.',
});
export const TimeZone = Text('Europe/Berlin', {
  minLength: 1,
  maxLength: 100,
  description: 'A name of the IANA time zone database.',
});

/** A union of objects, selected by `kind`. */
const ByKind = <T>(...kinds: TSchema[]) =>
  Type.Unsafe<T>({ type: 'object', discriminator: { propertyName: 'kind' }, oneOf: kinds });
const schedule = { kind: Enum(['schedule']), cron: CronExpression, timeZone: TimeZone };
const event = {
  kind: Enum(['event']),
  types: Type.Array(Enum(TRIGGER_TYPES), {
    minItems: 1,
    maxItems: 30,
    examples: [['run.failed']],
    description: "Event types. Only events of the automation's own project count.",
  }),
};
const Source = Enum(HOOK_SOURCES, {
  description:
    '`generic`: any sender. `error_tracker` and `tracker`: the payload names an issue, and the thread is about that issue.',
});
/** The same limits as for a thread's issue. */
const Slug = Type.Optional(Text('garden', { minLength: 1, maxLength: 128 }));
const defaults = Type.Optional(
  Body(
    { organizationSlug: Slug, projectSlug: Slug, projectId: Slug },
    { description: 'Values for fields of the issue that a payload lacks.' },
  ),
);
const Secret = Type.Unsafe<string>({
  type: 'string',
  minLength: 16,
  maxLength: 200,
  writeOnly: true,
  examples: ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
  description:
    "The sender's own secret, instead of one from the service. Stored encrypted and never returned.",
});

export type NewTrigger =
  | Exclude<AutomationTrigger, { kind: 'webhook' }>
  | {
      kind: 'webhook';
      source?: HookSource;
      secret?: string;
      defaults?: Extract<AutomationTrigger, { kind: 'webhook' }>['defaults'];
    };
const NewTrigger = ByKind<NewTrigger>(
  Body(schedule),
  Body(event),
  Body({
    kind: Enum(['webhook']),
    source: Type.Optional(Source),
    secret: Type.Optional(Secret),
    defaults,
  }),
);
const Trigger = ByKind<AutomationTrigger>(
  Type.Object(schedule),
  Type.Object(event),
  Type.Object({ kind: Enum(['webhook']), source: Source, defaults }),
);

const PullRequest = Enum(['none', 'draft', 'open'] as const satisfies AutomationRow['pull_request'][], {
  description: 'Whether a run with a change gets a pull request.',
});
const Overlap = Enum(['skip', 'queue', 'allow'] as const satisfies AutomationRow['overlap'][], {
  description:
    'What happens while another execution is open; for a hook with an issue, another one about the same issue. `queue`: at most ten wait.',
});
const CatchUp = Type.Boolean({
  description: 'Whether the newest missed time of the last 24 hours runs after the service was down.',
});
const SpendLimit = Nullable({ ...Micros, description: 'Micro-units of USD, per thread.' });
const MonthlyLimit = Nullable({
  ...Micros,
  description:
    'Micro-units of USD. Once the threads of a UTC month have cost this much, executions are skipped.',
});
const DisableAfterFailures = Nullable(
  Type.Integer({
    minimum: 1,
    maximum: 100,
    examples: [5],
    description: 'The number of consecutive failed executions that disables the automation; null: never.',
  }),
);

const settings = {
  filter: Type.Optional(Filter),
  modelId: Type.Optional(Nullable(ModelId)),
  baseBranch: Type.Optional(Nullable(Branch)),
  pullRequest: Type.Optional(PullRequest),
  overlap: Type.Optional(Overlap),
  catchUp: Type.Optional(CatchUp),
  spendLimitMicros: Type.Optional(SpendLimit),
  monthlyLimitMicros: Type.Optional(MonthlyLimit),
  disableAfterFailures: Type.Optional(DisableAfterFailures),
  disabled: Type.Optional(Type.Boolean()),
};
export const NewAutomation = Body({
  projectId: IdInput('prj'),
  name: Name,
  prompt: Prompt,
  trigger: NewTrigger,
  ...settings,
});
export type NewAutomation = Static<typeof NewAutomation>;
export const AutomationChange = Body(
  {
    name: Type.Optional(Name),
    prompt: Type.Optional(Prompt),
    trigger: Type.Optional(NewTrigger),
    ...settings,
  },
  { examples: [{ disabled: false }] },
);

export const Automation = Type.Object({
  id: Id('aut'),
  orgId: Id('org'),
  projectId: Id('prj'),
  name: Name,
  prompt: Prompt,
  trigger: Trigger,
  filter: Filter,
  modelId: Nullable(ModelId),
  baseBranch: Nullable(Branch),
  pullRequest: PullRequest,
  overlap: Overlap,
  catchUp: CatchUp,
  spendLimitMicros: SpendLimit,
  monthlyLimitMicros: MonthlyLimit,
  disableAfterFailures: DisableAfterFailures,
  disabled: Type.Boolean(),
  disabledReason: Nullable(
    Enum(['user', 'failures'] as const satisfies AutomationRow['disabled_reason'][], {
      description:
        '`user`: a caller disabled it. `failures`: `disableAfterFailures` consecutive executions failed.',
    }),
  ),
  consecutiveFailures: Counter,
  nextRunAt: Nullable({ ...Time, description: 'The next time of an enabled schedule.' }),
  lastExecutionAt: Nullable(Time),
  hookUrl: Nullable(
    Text(`https://headrace.example.com/api/hooks/automations/aut_${EXAMPLE_ID}`, {
      description: 'For `webhook`: the URL that the other system calls.',
    }),
  ),
  createdByUserId: Text(`sa_${EXAMPLE_ID}`),
  createdAt: Time,
  updatedAt: Time,
});

/** Part of a response that shows a signing secret once. */
export const SigningSecret = Text('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', {
  description: 'Returned only once, in the format of Standard Webhooks.',
});
export const SecretUnavailable = Type.Boolean({
  description: 'True if the response has no secret: it is a replay, or the caller provided the secret.',
});

const EventTypeName = Type.Unsafe<EventType>(Text('run.failed'));
export const Execution = Type.Object({
  id: Id('exe'),
  automationId: Id('aut'),
  projectId: Id('prj'),
  trigger: Type.Object({
    kind: Enum(['schedule', 'event', 'webhook', 'manual'] as const satisfies ExecutionRow['kind'][]),
    scheduledFor: Nullable(Time),
    eventId: Nullable(Id('evt')),
    eventType: Nullable(EventTypeName),
    deliveryId: Nullable(Text('7d1f5a52-0b0e-4c11-8c67-0f6d5f0a3c11')),
  }),
  status: Enum(EXECUTION_STATUSES),
  skippedReason: Nullable(
    Enum(
      ['overlap', 'queue_full', 'limit', 'rate', 'loop'] as const satisfies ExecutionRow['skipped_reason'][],
      {
        description:
          '`overlap`: another one was open. `queue_full`: ten were waiting. `limit`: the monthly limit was reached. `rate`: 60 were admitted in the last hour. `loop`: the chain of automations was too long.',
      },
    ),
  ),
  threadId: Nullable(Id('thr')),
  runId: Nullable(Id('run')),
  pullRequestId: Nullable(Id('pr')),
  error: Nullable(Type.Object({ code: Text('script_failed'), message: Text('The script ended with 1.') })),
  createdAt: Time,
  startedAt: Nullable(Time),
  finishedAt: Nullable(Time),
});
export const Payload = Type.Unsafe<Record<string, unknown>>({
  type: 'object',
  additionalProperties: {},
  examples: [{ ref: 'main' }],
});
export const ExecutionWithPayload = Type.Object({
  ...Execution.properties,
  payload: Nullable(Payload),
});
