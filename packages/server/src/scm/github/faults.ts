/** What GitHub's refusals and silences mean. Messages are for the log: they name no address and no credential. */
import { ProviderError } from '../provider.ts';

interface HttpFault {
  status: number;
  response?: { headers: Record<string, string | number | undefined>; data?: unknown };
}

interface GraphqlFault {
  errors: { type?: string; message: string }[];
}

const isHttpFault = (error: unknown): error is HttpFault =>
  error instanceof Error && typeof (error as { status?: unknown }).status === 'number';
const isGraphqlFault = (error: unknown): error is GraphqlFault =>
  error instanceof Error && error.name === 'GraphqlResponseError';

const DEFAULT_WAIT_SECONDS = 60;

/** What GitHub says of a refusal: its message and those of its parts, in one line. */
export function messageOf(error: unknown): string {
  if (isGraphqlFault(error)) return error.errors.map(({ message }) => message).join('; ');
  if (!isHttpFault(error)) return '';
  const data = error.response?.data as { message?: unknown; errors?: unknown } | undefined;
  const parts = Array.isArray(data?.errors) ? (data.errors as unknown[]) : [];
  const texts = [data?.message, ...parts.map(textOfPart)].filter((one) => typeof one === 'string');
  // oxlint-disable-next-line no-control-regex
  return texts.join('; ').replace(/[\u0000-\u001f\u007f]+/g, ' ');
}

const textOfPart = (part: unknown): unknown => {
  if (typeof part !== 'object' || part === null) return part;
  const { message, field, code } = part as Record<string, unknown>;
  return (
    message ?? (typeof field === 'string' && typeof code === 'string' ? `${field} is ${code}` : undefined)
  );
};

/** The status of a refusal; null where there was no answer. */
export const statusOf = (error: unknown): number | null =>
  isHttpFault(error) && error.response ? error.status : null;

/** How long GitHub wants no more requests; null where it does not say so. */
export function waitOf(error: unknown): number | null {
  if (isGraphqlFault(error))
    return error.errors.some(({ type }) => type === 'RATE_LIMITED') ? DEFAULT_WAIT_SECONDS : null;
  if (!isHttpFault(error) || ![403, 429].includes(error.status)) return null;
  const headers = error.response?.headers ?? {};
  const retryAfter = Number(headers['retry-after']);
  if (retryAfter > 0) return Math.min(3_600, retryAfter);
  if (String(headers['x-ratelimit-remaining']) === '0')
    return Math.min(
      3_600,
      Math.max(1, Number(headers['x-ratelimit-reset']) - Math.floor(Date.now() / 1_000)),
    );
  return error.status === 429 || /rate limit/i.test(messageOf(error)) ? DEFAULT_WAIT_SECONDS : null;
}

export function faultOf(error: unknown): ProviderError {
  if (error instanceof ProviderError) return error;
  const said = messageOf(error).slice(0, 300);
  const wait = waitOf(error);
  if (wait !== null)
    return new ProviderError(
      { code: 'unavailable', retryAfterSeconds: wait },
      `GitHub limits the rate: ${said}`,
    );
  if (isGraphqlFault(error)) return graphqlFault(error, said);
  const status = statusOf(error);
  if (status === null || status >= 500)
    return new ProviderError(
      { code: 'unavailable', ...(isPrivateAddress(error) ? { isPrivate: true } : {}) },
      status === null ? `GitHub gave no answer: ${reasonOf(error)}` : `GitHub answered ${status}`,
    );
  const message = `GitHub answered ${status}: ${said}`;
  if (status === 403) return new ProviderError({ code: 'access_denied', ...permissionOf(error) }, message);
  if (status === 401 || status === 451) return new ProviderError({ code: 'access_denied' }, message);
  if (status === 404 || status === 410) return new ProviderError({ code: 'not_found' }, message);
  return new ProviderError({ code: 'unsupported' }, message);
}

function graphqlFault({ errors }: GraphqlFault, said: string): ProviderError {
  const types = errors.map(({ type }) => type);
  const message = `GitHub refused a query: ${said}`;
  if (types.includes('FORBIDDEN') || types.includes('INSUFFICIENT_SCOPES'))
    return new ProviderError({ code: 'access_denied' }, message);
  if (types.includes('NOT_FOUND')) return new ProviderError({ code: 'not_found' }, message);
  return new ProviderError({ code: 'unsupported' }, message);
}

/** `pull_requests=write` in a header that refusals have. */
function permissionOf(error: unknown): { permission?: string } {
  const accepted = (error as HttpFault).response?.headers['x-accepted-github-permissions'];
  return typeof accepted === 'string' && /^[a-z_]+=[a-z]+([;,] ?[a-z_]+=[a-z]+)*$/.test(accepted)
    ? { permission: accepted }
    : {};
}

/** Why there was no answer, without the address that the message may have. */
function reasonOf(error: unknown): string {
  const cause = (error as { cause?: unknown }).cause;
  const code = [error, cause, (cause as { cause?: unknown } | undefined)?.cause]
    .map((one) => (one as { code?: unknown } | undefined)?.code)
    .find((one) => typeof one === 'string');
  if (typeof code === 'string') return code;
  return error instanceof Error ? error.message.slice(0, 100).replace(/\bhttps?:\S+/g, '…') : 'unknown';
}

/** Whether a name was looked up to an address that is not of the open internet. */
function isPrivateAddress(error: unknown): boolean {
  for (let one = error, depth = 0; one instanceof Error && depth < 5; one = one.cause, depth++)
    if ((one as { code?: unknown }).code === 'PRIVATE_ADDRESS') return true;
  return false;
}

/** Says what of a repository a 404 is about. */
export const missing =
  (what: 'commit' | 'pull_request') =>
  (error: unknown): never => {
    const known = faultOf(error);
    if (known.fault.code !== 'not_found') throw error;
    throw new ProviderError({ code: 'not_found', what }, known.message);
  };

/** An answer that is not what GitHub documents. */
export const senseless = (what: string) =>
  new ProviderError({ code: 'unavailable' }, `GitHub's answer makes no sense: ${what}`);
