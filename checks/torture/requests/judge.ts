/**
 * Whether an answer is as the document and the general rules say. What is wrong is said in words that do
 * not depend on the draw.
 */
import type { ErrorObject } from 'ajv';
import type { ApiDocument, FaultsOf, Operation } from './document.ts';
import type { Answer } from './wire.ts';

const RATE = /^"ingress";r=(\d+);t=(\d+)$/;
const POLICY = /^"ingress";q=(\d+);qu="requests";w=(\d+)$/;
const REQUEST_ID = /^[\x21-\x7e]{1,128}$/;
const OPERATION_ID = /^op_[0-9a-z]{26}$/;
const AN_ID = /\b[a-z]{2,4}_[0-7][0-9a-hjkmnp-tv-z]{25}\b/;
const POINTER = /^(\/.*)?$/s;
/** These come before an operation is found, or of the HTTP parser. */
const OF_NO_OPERATION = new Set([405, 431]);
/** Refusals that leave no receipt; `not_found`: of a path that is none. */
const WITHOUT_RECEIPT = new Set([
  'not_found',
  'thread_busy',
  'build_busy',
  'request_in_progress',
  'idempotency_conflict',
]);

interface ErrorOf {
  code: string;
  message: string;
  requestId: string;
  fields?: { path: string; message: string }[];
}

export const errorOf = ({ body }: Answer): ErrorOf | undefined => {
  try {
    return (JSON.parse(body.toString()) as { error?: ErrorOf }).error;
  } catch {
    return undefined;
  }
};

/** `operation`: null where the path has none. */
export function judge(
  { errorFaults: faultsOf }: ApiDocument,
  operation: Operation | null,
  answer: Answer,
  method: string,
): string[] {
  if (answer.fault !== undefined) return [answer.fault];
  const { status, headers } = answer;
  const said = (name: string) => headers.get(name)?.[0];
  const wrong: string[] = [];
  if (status >= 500) wrong.push(`answers ${status} ${errorOf(answer)?.code ?? ''}`);
  wrong.push(...rateFaults(headers));
  if (!REQUEST_ID.test(said('x-request-id') ?? '')) wrong.push(`${status} without a proper x-request-id`);
  for (const name of ['retry-after', 'x-retry-after']) {
    const isDue = status === 429 || status === 503;
    if (isDue !== headers.has(name) || (isDue && !/^[1-9]\d*$/.test(said(name)!)))
      wrong.push(`${status} ${isDue ? 'without a whole number in' : 'with'} ${name}`);
  }
  for (const [name, values] of headers)
    if (values.length > 1 && name !== 'set-cookie') wrong.push(`${status} says ${name} twice`);

  const documented = operation?.responses.get(status);
  if (operation && !documented && !OF_NO_OPERATION.has(status))
    wrong.push(`answers ${status}, which is not documented`);
  if (status === 405 && !said('allow')) wrong.push('405 without Allow');
  if (method === 'HEAD') return wrong;
  if (status >= 400) wrong.push(...errorFaults(answer, faultsOf));
  else if (documented) wrong.push(...bodyFaults(answer, documented.content));
  if (status === 200 && operation?.eventFaults)
    wrong.push(...frameFaults(answer.body, operation.eventFaults));
  for (const name of documented?.headers ?? []) {
    const isOfReceipts = name === 'x-operation-id' || name === 'idempotent-replayed';
    if (!isOfReceipts && !headers.has(name.toLowerCase())) wrong.push(`${status} without ${name}`);
  }
  if (operation?.isWrite && leavesReceipt(answer) && !OPERATION_ID.test(said('x-operation-id') ?? ''))
    wrong.push(`${status} ${errorOf(answer)?.code ?? ''} of a write without x-operation-id`);
  return wrong;
}

/** Whether a write's answer is one that its key keeps. */
export function leavesReceipt(answer: Answer): boolean {
  if (answer.status < 300) return true;
  return (
    (answer.status === 404 || answer.status === 409) && !WITHOUT_RECEIPT.has(errorOf(answer)?.code ?? '')
  );
}

function rateFaults(headers: Answer['headers']): string[] {
  const said = (name: string) => headers.get(name)?.[0] ?? '';
  const [, left, seconds] = RATE.exec(said('ratelimit')) ?? [];
  const [, quota] = POLICY.exec(said('ratelimit-policy')) ?? [];
  if (left === undefined || quota === undefined) return ['no proper RateLimit and RateLimit-Policy'];
  if (said('x-ratelimit-limit') !== quota || said('x-ratelimit-remaining') !== left)
    return ['X-RateLimit-Limit and -Remaining say something else than RateLimit'];
  const reset = Number(said('x-ratelimit-reset'));
  if (!Number.isInteger(reset) || Math.abs(reset - (Date.now() / 1000 + Number(seconds))) > 70)
    return ['X-RateLimit-Reset is not when the window resets'];
  return [];
}

function errorFaults(answer: Answer, faultsOf: FaultsOf): string[] {
  const { status, headers } = answer;
  if (headers.get('content-type')?.[0] !== 'application/json; charset=utf-8')
    return [`${status} is not JSON by its content-type: ${headers.get('content-type')?.[0] ?? 'none'}`];
  let value: unknown;
  try {
    value = JSON.parse(answer.body.toString());
  } catch {
    return [`${status} is not JSON`];
  }
  const faults = faultsOf(value);
  if (faults.length) return [`${status} is off the schema of errors: ${told(faults)}`];
  const { code, message, requestId, fields } = (value as { error: ErrorOf }).error;
  const wrong: string[] = [];
  if (!/^[a-z]+(_[a-z]+)*$/.test(code)) wrong.push(`${status} with the code ${code}`);
  if (requestId !== headers.get('x-request-id')?.[0] && !headers.has('idempotent-replayed'))
    wrong.push(`${status} whose requestId is not x-request-id`);
  if (AN_ID.test(message)) wrong.push(`${status} ${code} echoes an id`);
  if (fields && (fields.length === 0 || fields.some(({ path }) => !POINTER.test(path))))
    wrong.push(`${status} ${code} with fields that are no pointers`);
  return wrong;
}

function bodyFaults(answer: Answer, content: Map<string, FaultsOf | null>): string[] {
  const { status, headers, body } = answer;
  const type = headers.get('content-type')?.[0];
  if (content.size === 0) return body.length ? [`${status} with a body`] : [];
  const media = type?.split(';')[0] ?? '';
  if (content.has('*/*')) return [];
  if (!content.has(media)) return [`${status} with the content-type ${type ?? 'none'}`];
  if (media.startsWith('application/json') && type !== 'application/json; charset=utf-8')
    return [`${status} with the content-type ${type}`];
  if (media === 'application/gzip') return body.readUInt16BE(0) === 0x1f8b ? [] : [`${status} is no gzip`];
  const faultsOf = content.get(media);
  if (!faultsOf) return [];
  let value: unknown;
  try {
    value = JSON.parse(body.toString());
  } catch {
    return [`${status} is not JSON`];
  }
  const faults = faultsOf(value);
  return faults.length ? [`${status} is off its schema: ${told(faults)}`] : [];
}

const OF_NO_EVENT = new Set(['heartbeat', 'draft', 'draft.removed', 'error']);

/**
 * The stream's whole frames: events are as their list has them, named by their type, with their cursor as
 * id.
 */
function frameFaults(body: Buffer, faultsOf: FaultsOf): string[] {
  return body
    .toString()
    .split('\n\n')
    .slice(0, -1)
    .flatMap((frame) => {
      // Not by a pattern: `$` and `.` take U+2028 for a line's end.
      const member = (name: string) =>
        frame
          .split('\n')
          .find((line) => line.startsWith(`${name}: `))
          ?.slice(name.length + 2);
      const [type, id, data] = [member('event'), member('id'), member('data')];
      if (type === undefined || data === undefined) return ['a frame without event or data'];
      const value = JSON.parse(data) as { type?: string; cursor?: string };
      if (OF_NO_EVENT.has(type))
        return type === 'heartbeat' && value.cursor !== id ? ['a heartbeat whose id is not its cursor'] : [];
      if (value.type !== type || value.cursor !== id)
        return ['a frame whose event is not its type, or whose id is not its cursor'];
      const faults = faultsOf(value);
      return faults.length ? [`an event off its schema: ${told(faults)}`] : [];
    });
}

/** Array indexes left out: one fault of many items is one. */
const told = (faults: ErrorObject[]) =>
  [
    ...new Set(
      faults.map(
        ({ instancePath, message, params }) =>
          `${instancePath.replaceAll(/\/\d+/g, '/*')} ${message}${'additionalProperty' in params ? ` (${String(params.additionalProperty)})` : ''}`,
      ),
    ),
  ]
    .slice(0, 3)
    .join('; ');
