/** Every event type with the fields of its `data`, and the envelope. `data` holds identities and public status only. */
import { Type } from 'typebox';
import type { TObject, TProperties } from 'typebox';
import { Counter, Enum, Id, Nullable, Sha256, Text, Time } from '../http/schemas.ts';
import type { IdPrefix } from '../ids.ts';

const RUN = ['queued', 'running', 'waiting', 'completed', 'failed', 'cancelled'] as const;
const THREAD = ['queued', 'running', 'waiting', 'blocked', 'ready', 'failed', 'archived'] as const;
const TOOL = ['pending', 'running', 'completed', 'failed', 'cancelled'] as const;
const PREVIEW = ['starting', 'ready', 'failed', 'stopped'] as const;
const OPERATION = ['pending', 'succeeded', 'failed', 'uncertain'] as const;

const data = <P extends TProperties>(properties: P) => Type.Object(properties, { additionalProperties: false });
const withStatus = (prefix: IdPrefix | 'pr', status: readonly string[] | null) => data({ id: Id(prefix), status: status ? Enum(status) : Text('open') });

const thread = withStatus('thr', THREAD);
const run = withStatus('run', RUN);
const approval = data({ id: Id('apr'), sourceEventId: Nullable(Id('evt')) });
const app = data({ id: Id('prj'), externalId: Nullable(Text('customer-42')), createdAt: Time, updatedAt: Time });
const apply = (status: 'queued' | 'applied' | 'conflicted' | 'failed') =>
  data({ id: Id('apl'), status: Enum([status]), sourceId: status === 'applied' ? Id('src') : Type.Null({ description: 'The result, known when applied.' }) });
const build = (status: 'queued' | 'building' | 'failed') => data({ id: Id('bld'), status: Enum([status]), sourceId: Id('src') });

/** Type → schema of `data`. The keys are all types there are. */
export const EVENT_DATA = {
  'thread.updated': thread,
  'thread.deleted': thread,
  'run.queued': run,
  'run.running': run,
  'run.waiting': run,
  'run.completed': run,
  'run.failed': run,
  'run.cancelled': run,
  'message.persisted': data({ id: Id('msg'), role: Enum(['user', 'assistant', 'system']) }),
  'tool.updated': withStatus('tool', TOOL),
  'approval.requested': approval,
  'approval.resolved': approval,
  'checkpoint.created': data({ id: Id('chk') }),
  'workspace.recovery.updated': data({ id: Id('wsr') }),
  'preview.updated': withStatus('prv', PREVIEW),
  'pull_request.updated': withStatus('pr', null),
  'automation.execution.updated': data({ id: Text('exe_01k9x3v5e8f7arh2m4t6w8y0zb'), status: Text('completed') }),
  'operation.updated': withStatus('op', OPERATION),
  'platform.app.created': app,
  'platform.app.updated': app,
  'platform.app.deleted': app,
  'platform.source.imported': data({ id: Id('src'), sha256: Sha256, byteSize: Counter, fileCount: Counter }),
  'platform.apply.queued': apply('queued'),
  'platform.apply.applied': apply('applied'),
  'platform.apply.conflicted': apply('conflicted'),
  'platform.apply.failed': apply('failed'),
  'platform.build.queued': build('queued'),
  'platform.build.building': build('building'),
  'platform.build.ready': data({ id: Id('bld'), status: Enum(['ready']), sourceId: Id('src'), artifactSha256: Sha256 }),
  'platform.build.failed': build('failed'),
  'platform.head.updated': data({ id: Id('prj'), sourceId: Id('src'), revision: Counter }),
} as const satisfies Record<string, TObject>;

export type EventType = keyof typeof EVENT_DATA;
export const EVENT_TYPES = Object.keys(EVENT_DATA) as EventType[];
export const isEventType = (text: string): text is EventType => Object.hasOwn(EVENT_DATA, text);

const shapes = [...new Set<TObject>(Object.values(EVENT_DATA))];

const envelope = (scope: TProperties, projectId: TProperties) => Type.Object({
  id: Id('evt', 'Deduplicate deliveries by this.'),
  type: Enum(EVENT_TYPES),
  sequence: Type.String({ pattern: '^\\d+$', examples: ['4711'], description: 'Numeric text; rises along a feed. Not a cursor.' }),
  orgId: Id('org'),
  ...scope,
  ...projectId,
  threadId: Nullable(Id('thr')),
  runId: Nullable(Id('run')),
  data: Type.Unsafe<Record<string, unknown>>({ anyOf: shapes, description: 'Identities and public status; read the resource for more.' }),
  occurredAt: Time,
  publishedAt: Time,
  cursor: Text('tYc1…', { description: 'Opaque: resume after this event.' }),
}, { additionalProperties: false });

/** An event of the Platform feeds: `appId` is the project's id. */
export const PlatformEvent = envelope({ appId: Id('prj') }, { projectId: Id('prj') });
/** An event of the Direct feed: without `appId`; `projectId` is null where no project is concerned. */
export const DirectEvent = envelope({}, { projectId: Nullable(Id('prj')) });
