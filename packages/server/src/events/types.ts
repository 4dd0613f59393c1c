/**
 * Every event type with the fields of its `data`, and the envelope. `data` holds identities and public
 * status only.
 */
import { Type } from 'typebox';
import type { TObject, TProperties } from 'typebox';
import { Counter, Enum, EXAMPLE_ID, Id, Nullable, Sha256, Text, Time } from '../http/schemas.ts';
import type { IdPrefix } from '../ids.ts';

const THREAD = ['queued', 'running', 'waiting', 'blocked', 'ready', 'failed', 'archived'] as const;
const TOOL = ['pending', 'running', 'completed', 'failed', 'cancelled'] as const;
const PREVIEW = ['starting', 'ready', 'failed', 'stopped'] as const;
const OPERATION = ['pending', 'succeeded', 'failed', 'uncertain'] as const;

const data = <P extends TProperties>(properties: P) =>
  Type.Object(properties, { additionalProperties: false });
/** Checks the whole form: a text that only begins like an id is none. */
const Named = (prefix: IdPrefix | 'pr' | 'exe') =>
  Type.String({ pattern: `^${prefix}_[0-7][0-9a-hjkmnp-tv-z]{25}$`, examples: [`${prefix}_${EXAMPLE_ID}`] });
/** One word of a status set that is not the service's own. */
const Word = (example: string) => Type.String({ pattern: '^[a-z_]{1,32}$', examples: [example] });
const withStatus = (prefix: IdPrefix, status: readonly string[]) =>
  data({ id: Named(prefix), status: Enum(status) });

const thread = withStatus('thr', THREAD);
const run = (status: 'queued' | 'running' | 'waiting' | 'completed' | 'failed' | 'cancelled') =>
  withStatus('run', [status]);
const approval = data({ id: Named('apr'), sourceEventId: Nullable(Named('evt')) });
const app = data({
  id: Named('prj'),
  externalId: Nullable(Text('customer-42', { maxLength: 128 })),
  createdAt: Time,
  updatedAt: Time,
});
const apply = (status: 'queued' | 'applied' | 'conflicted' | 'failed') =>
  data({
    id: Named('apl'),
    status: Enum([status]),
    sourceId:
      status === 'applied' ? Named('src') : Type.Null({ description: 'The result, known when applied.' }),
  });
const build = (status: 'queued' | 'building' | 'failed') =>
  data({ id: Named('bld'), status: Enum([status]), sourceId: Named('src') });

/** Type → schema of `data`. The keys are all types there are. */
export const EVENT_DATA = {
  'thread.updated': thread,
  'thread.deleted': thread,
  'run.queued': run('queued'),
  'run.running': run('running'),
  'run.waiting': run('waiting'),
  'run.completed': run('completed'),
  'run.failed': run('failed'),
  'run.cancelled': run('cancelled'),
  'message.persisted': data({ id: Named('msg'), role: Enum(['user', 'assistant', 'system']) }),
  'tool.updated': withStatus('tool', TOOL),
  'approval.requested': approval,
  'approval.resolved': approval,
  'checkpoint.created': data({ id: Named('chk') }),
  'workspace.recovery.updated': data({ id: Named('wsr') }),
  'preview.updated': withStatus('prv', PREVIEW),
  'pull_request.updated': data({ id: Named('pr'), status: Word('open') }),
  'automation.execution.updated': data({ id: Named('exe'), status: Word('completed') }),
  'operation.updated': withStatus('op', OPERATION),
  'platform.app.created': app,
  'platform.app.updated': app,
  'platform.app.deleted': app,
  'platform.source.imported': data({
    id: Named('src'),
    sha256: Sha256,
    byteSize: Counter,
    fileCount: Counter,
  }),
  'platform.apply.queued': apply('queued'),
  'platform.apply.applied': apply('applied'),
  'platform.apply.conflicted': apply('conflicted'),
  'platform.apply.failed': apply('failed'),
  'platform.build.queued': build('queued'),
  'platform.build.building': build('building'),
  'platform.build.ready': data({
    id: Named('bld'),
    status: Enum(['ready']),
    sourceId: Named('src'),
    artifactSha256: Sha256,
  }),
  'platform.build.failed': build('failed'),
  'platform.head.updated': data({ id: Named('prj'), sourceId: Named('src'), revision: Counter }),
} as const satisfies Record<string, TObject>;

export type EventType = keyof typeof EVENT_DATA;
export const EVENT_TYPES = Object.keys(EVENT_DATA) as EventType[];
export const isEventType = (text: string): text is EventType => Object.hasOwn(EVENT_DATA, text);

const shapes = [...new Set<TObject>(Object.values(EVENT_DATA))];

const envelope = (scope: TProperties, projectId: TProperties) =>
  Type.Object(
    {
      id: Id('evt', 'Deduplicate deliveries by this.'),
      type: Enum(EVENT_TYPES),
      sequence: Type.String({
        pattern: '^\\d+$',
        examples: ['4711'],
        description: 'Numeric text that increases along a feed. Not a cursor.',
      }),
      orgId: Id('org'),
      ...scope,
      ...projectId,
      threadId: Nullable(Id('thr')),
      runId: Nullable(Id('run')),
      data: Type.Unsafe<Record<string, unknown>>({
        anyOf: shapes,
        description: 'Identities and public status; read the resource for more.',
      }),
      occurredAt: Time,
      publishedAt: Time,
      cursor: Text('tYc1…', { description: 'Opaque: resume after this event.' }),
    },
    { additionalProperties: false },
  );

/** An event of the Platform feeds: `appId` is the project's id. */
export const PlatformEvent = envelope({ appId: Id('prj') }, { projectId: Id('prj') });
/** An event of the Direct feed: without `appId`; `projectId` is null where no project is concerned. */
export const DirectEvent = envelope({}, { projectId: Nullable(Id('prj')) });
