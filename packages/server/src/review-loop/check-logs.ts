import type { OpenRepository, ProviderCheck } from '../scm/index.ts';
import { LOG_BYTES, MAX_CONTENT } from './pass-text.ts';
import type { FailingCheck } from './pass-text.ts';

const AT_ONCE = 4;
const MAX_LOGS = 100;
/** After this time, no further logs are requested. */
const MAX_MS = 30_000;
/** Extra bytes that show that a log is longer: room for one whole character. */
const MORE = 4;

/** Failing checks with as many logs as can fit into a message. Throws ProviderError if the provider is unavailable. */
export async function withLogs(repository: OpenRepository, checks: ProviderCheck[]): Promise<FailingCheck[]> {
  const endAt = Date.now() + MAX_MS;
  const shown: FailingCheck[] = [];
  let size = 0;
  for (let at = 0; at < checks.length; at += AT_ONCE) {
    const isRead = size < MAX_CONTENT && at < MAX_LOGS && Date.now() < endAt;
    const next = checks.slice(at, at + AT_ONCE);
    shown.push(...(await Promise.all(next.map((check) => withLog(repository, check, isRead)))));
    for (const { log } of shown.slice(at)) size += Math.min(log?.length ?? 0, LOG_BYTES.at(-1)!);
  }
  return shown;
}

async function withLog(
  { provider, at }: OpenRepository,
  { name, url, summary, logId }: ProviderCheck,
  isRead: boolean,
): Promise<FailingCheck> {
  const log = logId !== null && isRead ? await provider.checkLog(at, logId, LOG_BYTES[0] + MORE) : null;
  return { name, url, summary, log, isLogUnread: logId !== null && log === null };
}
