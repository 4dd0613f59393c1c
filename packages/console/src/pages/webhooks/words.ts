/** What the service says of webhooks by codes, in words. */
import type { Delivery, Subscription } from '@headrace/client';

type Attempt = Delivery['attempts'][number];

/** How a webhook is: the shape of `status`, a word, and what that means; null where it needs no explanation. */
export function stateOf({ disabled, disabledReason }: Pick<Subscription, 'disabled' | 'disabledReason'>): {
  status: string;
  word: string;
  meaning: string | null;
} {
  if (!disabled) return { status: 'ready', word: 'enabled', meaning: null };
  const meaning = DISABLED[disabledReason ?? 'user'];
  return disabledReason === 'user' || disabledReason === null
    ? { status: 'stopped', word: 'paused', meaning: meaning! }
    : {
        status: 'failed',
        word: 'disabled',
        meaning: meaning ?? `The service has disabled it: ${disabledReason}.`,
      };
}

/** The same in a few words, for a row. */
export const reasonOf = ({ disabledReason }: Pick<Subscription, 'disabledReason'>): string | null =>
  disabledReason === 'gone'
    ? 'the receiver answered 410'
    : disabledReason === 'failures'
      ? 'every attempt failed for days'
      : null;

const DISABLED: Record<string, string | undefined> = {
  user: 'Someone has paused it. Events wait as deliveries, at most seven days each, and are sent when it is resumed. Only tests are sent.',
  gone: 'The receiver answered 410, which says that it is gone for good. Events since then are not delivered; what was pending waits.',
  failures:
    'Every attempt failed for days, so the service has given up. Events since then are not delivered; what was pending waits.',
};

const FAILED: Record<string, string | undefined> = {
  exhausted: 'The last attempt failed, too. Redeliver it when the receiver works again.',
  gone: 'The receiver answered 410, so nothing more is sent to it.',
  expired: 'It was pending for seven days.',
  overflow: 'More than 100,000 deliveries were pending, and this was the oldest.',
  platform_app_event: 'It is an event of a Platform app: these are not delivered. Read them from its feed.',
};

/** Why a delivery failed. */
export const failedWords = (code: string): string => FAILED[code] ?? code;

const ATTEMPT: Record<string, string | undefined> = {
  timeout: 'no answer within 15 s',
  connection: 'the connection failed or broke, or the name is unknown',
  tls: 'the certificate is not valid, or TLS failed',
  address_refused: 'the name leads to an address that is not public',
  redirect: 'a redirect, which is not followed: set the new URL',
  status: 'refused: the answer is not a 2xx',
};

/** What came of an attempt, in few words. */
export const attemptWords = ({ error }: Pick<Attempt, 'error'>): string =>
  error === null ? 'accepted' : (ATTEMPT[error] ?? error);

/** `500`, or what happened instead of an answer. */
export const outcomeOf = (attempt: Attempt): string =>
  attempt.statusCode === null ? attemptWords(attempt) : String(attempt.statusCode);

export const deliveryStatus = (status: string): { status: string; word: string } =>
  status === 'succeeded' ? { status: 'completed', word: 'delivered' } : { status, word: status };
