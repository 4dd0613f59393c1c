/**
 * Hooks of other systems. An unknown automation, a deleted one, one without hooks and a wrong signature take the same
 * time and get the same answer. One transaction stores the execution and the delivery's id.
 */
import Type from 'typebox';
import type { Context } from '../context.ts';
import { clean } from '../db/clean-text.ts';
import type { AutomationRow, MappedIssue } from '../db/schema.ts';
import { transaction } from '../db/transaction.ts';
import type { Tx } from '../db/transaction.ts';
import { requireCapability } from '../http/capabilities.ts';
import { ApiError, invalid } from '../http/errors.ts';
import { plain } from '../http/operation.ts';
import type { Call, Reply } from '../http/operation.ts';
import { Enum, Nullable, Ok } from '../http/schemas.ts';
import { parseStrictJson } from '../http/strict-json.ts';
import { keyFor } from '../sealing.ts';
import { openSigningSecrets } from '../signing-secrets.ts';
import { admitAll } from './admit.ts';
import { lockAutomations } from './execution-store.ts';
import { matchesFilter } from './filter.ts';
import { mapHook } from './hook-mapping.ts';
import { isAuthentic } from './hook-signature.ts';
import { findHook, settleDelivery, takeDelivery } from './hook-store.ts';
import { Execution } from './schemas.ts';
import { PURPOSE } from './secrets.ts';
import { readExecution } from './store.ts';
import { automationView, executionView } from './view.ts';

const MAX_BODY = 256 * 1024;
const MAX_DELIVERY_ID = 200;
/** The first header that a hook has is the delivery's id. */
const DELIVERY_IDS = [
  'webhook-id',
  'request-id',
  'linear-delivery',
  'x-github-delivery',
  'idempotency-key',
] as const;

type Payload = Record<string, unknown>;
type Skipped = 'disabled' | 'filtered' | 'unmapped';

export const receiveHook = plain({
  name: 'automations.receiveHook',
  summary: "Receive another system's hook",
  description:
    "Starts an execution of an automation with the trigger `webhook`. The sender proves that it knows the automation's secret: by the headers of Standard Webhooks (at most 300 s old), as `Authorization: Bearer`, or by the hex HMAC-SHA256 of the body in `Sentry-Hook-Signature`, `Linear-Signature` or `X-Hub-Signature-256`. For seven days, another hook with the same `webhook-id`, `Request-ID`, `Linear-Delivery`, `X-GitHub-Delivery` or `Idempotency-Key` (the first one present counts) gets the answer of the first one.",
  access: 'public',
  rawBody: ['application/json'],
  bodyLimit: MAX_BODY,
  responses: {
    202: Ok({ execution: Execution, duplicate: Type.Literal(false) }),
    200: Ok({
      execution: Nullable(Execution),
      duplicate: Type.Optional(Type.Literal(true)),
      skipped: Type.Optional(
        Enum(['disabled', 'filtered', 'unmapped'] as const satisfies Skipped[], {
          description:
            '`disabled`: the automation is disabled. `filtered`: its filter or the `action` of the payload excludes the hook. `unmapped`: the payload names no issue.',
        }),
      ),
    }),
  },
  errors: [401, 402, 501],
  async handle({ ctx, params, headers, bytes }) {
    const { id } = await authenticate(ctx, params.automationId!, { headers, bytes });
    const deliveryId = deliveryIdOf(headers);
    const payload = readPayload(bytes);
    return transaction(ctx, (tx) => receive(tx, ctx, { id, deliveryId, payload }));
  },
});

const unauthorized = () =>
  new ApiError('unauthorized', "The signature is wrong or missing. Check the automation's secret.");

async function authenticate(
  ctx: Context,
  id: string,
  { headers, bytes }: Pick<Call, 'headers' | 'bytes'>,
): Promise<{ id: string }> {
  const automation = await findHook(ctx.db, id);
  const receivedAt = new Date(Date.now() + ctx.clock.offsetMs);
  const secrets = automation ? openSigningSecrets(ctx.secretKey, PURPOSE, automation, receivedAt) : [];
  const decoy = keyFor(ctx.secretKey, 'hooks of unknown automations').toString('hex');
  if (!isAuthentic(secrets, decoy, { headers, bytes, receivedAt }) || !automation) throw unauthorized();
  requireCapability(ctx.config, automation, 'automations');
  return automation;
}

function deliveryIdOf(headers: Call['headers']): string | null {
  for (const name of DELIVERY_IDS) {
    const id = headers[name];
    if (typeof id !== 'string' || id === '') continue;
    if (id.length > MAX_DELIVERY_ID)
      throw invalid({ path: `/headers/${name}`, message: `must have at most ${MAX_DELIVERY_ID} characters` });
    return id;
  }
  return null;
}

/** The sender's data, with all that the database cannot hold replaced. */
function readPayload(bytes: Buffer): Payload {
  let parsed: ReturnType<typeof parseStrictJson>;
  try {
    parsed = parseStrictJson(bytes);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new ApiError('invalid_request', error.message, { cause: error });
  }
  const { value, faults } = parsed;
  const twice = faults.filter(({ kind }) => kind === 'duplicate_member');
  if (twice.length) throw invalid(...twice.map(({ path, message }) => ({ path, message })));
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw invalid({ path: '', message: 'must be object' });
  return (faults.length ? cleaned(value) : value) as Payload;
}

function cleaned(value: unknown): unknown {
  if (typeof value === 'string') return clean(value);
  if (Array.isArray(value)) return value.map(cleaned);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [clean(key), cleaned(member)]));
}

interface Hook {
  id: string;
  deliveryId: string | null;
  payload: Payload;
}

/** Hooks of one automation run one after the other: it is locked and read again. */
async function receive(tx: Tx, ctx: Context, { id, deliveryId, payload }: Hook): Promise<Reply> {
  const [locked] = await lockAutomations(tx, [id]);
  if (!locked || locked.automation.deleted_at !== null) throw unauthorized();
  const first = deliveryId === null ? undefined : await takeDelivery(tx, id, deliveryId);
  if (first) {
    const execution =
      first.execution_id === null ? undefined : await readExecution(tx.db, id, first.execution_id);
    return answer({
      execution: execution ? executionView(execution) : null,
      duplicate: true,
      skipped: first.skipped,
    });
  }
  const decision = decide(ctx, locked.automation, payload);
  if ('skipped' in decision) {
    if (deliveryId !== null) await settleDelivery(tx, id, deliveryId, { execution_id: null, ...decision });
    return answer({ execution: null, ...decision });
  }
  const trigger = { kind: 'webhook', deliveryId: deliveryId ?? undefined, payload, ...decision } as const;
  const [execution] = await admitAll(tx, [{ ...locked, trigger }]);
  if (deliveryId !== null)
    await settleDelivery(tx, id, deliveryId, { execution_id: execution!.id, skipped: null });
  return { status: 202, body: { ok: true, execution: executionView(execution!), duplicate: false } };
}

const answer = ({
  skipped,
  ...body
}: {
  execution: unknown;
  duplicate?: true;
  skipped: Skipped | null;
}): Reply => ({
  status: 200,
  body: { ok: true, ...body, ...(skipped !== null && { skipped }) },
});

function decide(
  ctx: Context,
  automation: AutomationRow,
  payload: Payload,
): { skipped: Skipped } | { mapped: MappedIssue | undefined; key: string | undefined } {
  const { trigger, filter } = automation;
  if (automation.disabled_reason !== null || trigger.kind !== 'webhook') return { skipped: 'disabled' };
  const hook = mapHook(trigger.source, payload, trigger.defaults);
  if (hook.kind !== 'mapped') return { skipped: hook.kind };
  if (!matchesFilter(filter, { payload, automation: automationView(ctx, automation) }))
    return { skipped: 'filtered' };
  return { mapped: hook.issue, key: hook.key };
}
