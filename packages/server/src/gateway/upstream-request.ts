/** The call as the provider gets it: its address, the headers that pass, and the organization's key. */
import type { IncomingHttpHeaders } from 'node:http';
import type { ProviderEntry, Wire } from '../config-file.ts';
import type { Endpoint } from './route.ts';

const PASSED = ['accept', 'anthropic-version', 'user-agent'];
/** Betas that cost more than tokens, or reach what is stored at the provider. */
const PAID_BETA =
  /^(fast-mode|code-execution|mcp-client|web-fetch|web-search|files-api|skills|advisor|managed-agents|compact|server-side-fallback)/;
const LONGEST_HEADER = 2_000;

export const upstreamUrl = ({ baseUrl }: ProviderEntry, endpoint: Endpoint): string =>
  `${baseUrl}/${endpoint}`;

/** Whether the provider is OpenAI itself. */
export const isOpenAi = ({ baseUrl }: ProviderEntry): boolean =>
  /(^|\.)openai\.(azure\.)?com$/.test(new URL(baseUrl).hostname);

export function upstreamHeaders(
  inbound: IncomingHttpHeaders,
  provider: ProviderEntry,
  wire: Wire,
  key: string | null,
): Record<string, string> {
  const headers: Record<string, string> = { 'accept-encoding': 'identity' };
  for (const name of PASSED) {
    const value = inbound[name];
    if (typeof value === 'string' && value.length <= LONGEST_HEADER) headers[name] = value;
  }
  if (wire === 'anthropic') {
    headers['anthropic-version'] ??= '2023-06-01';
    const betas = String(inbound['anthropic-beta'] ?? '')
      .slice(0, LONGEST_HEADER)
      .split(',')
      .map((beta) => beta.trim())
      .filter((beta) => beta !== '' && !PAID_BETA.test(beta));
    if (betas.length) headers['anthropic-beta'] = betas.join(',');
  }
  if (key === null) return headers;
  const isAnthropic = wire === 'anthropic';
  if (isAnthropic) headers['x-api-key'] = key;
  // Others that speak Anthropic's wire want the key in either form.
  if (!isAnthropic || !/(^|\.)anthropic\.com$/.test(new URL(provider.baseUrl).hostname))
    headers.authorization = `Bearer ${key}`;
  return headers;
}

const ANSWERED = ['content-type', 'request-id', 'x-request-id', 'retry-after'];

/** The answer's headers that the agent gets: none that reveals the organization's account. */
export function answerHeaders(
  upstream: Record<string, string | string[] | undefined>,
): Record<string, string> {
  return Object.fromEntries(
    ANSWERED.flatMap((name) => (typeof upstream[name] === 'string' ? [[name, upstream[name]]] : [])) as [
      string,
      string,
    ][],
  );
}
