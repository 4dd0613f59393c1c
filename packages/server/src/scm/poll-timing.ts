const DAY_MS = 24 * 3_600_000;

/**
 * How long after a look at an open pull request the next one is due without news: every `pollSeconds` while
 * its review loop is enabled, a fifth as often otherwise, and a tenth as often while webhooks arrive.
 */
export function nextLookAfterMs({
  loopEnabled,
  webhookReceivedAt,
  pollSeconds,
  now = Date.now(),
}: {
  loopEnabled: boolean;
  webhookReceivedAt: Date | null;
  pollSeconds: number;
  now?: number;
}): number {
  const hasWebhooks = webhookReceivedAt !== null && now - webhookReceivedAt.getTime() < DAY_MS;
  return pollSeconds * 1_000 * (hasWebhooks ? 10 : loopEnabled ? 1 : 5);
}
