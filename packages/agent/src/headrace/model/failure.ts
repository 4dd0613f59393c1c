import { ConnectionLost } from '../http-fetch.ts';

/**
 * The model could not be asked, or did not answer. The message is for a person, in the provider's words where
 * there are any.
 */
export class ModelFailure extends Error {
  override readonly name = 'ModelFailure';
  /** Whether the conversation was too long for the model. */
  readonly isTooLong: boolean;
  /** Whether the gateway disappeared without an answer: another one may be there in a moment. */
  readonly isLost: boolean;
  constructor(message: string, isTooLong = false, cause?: unknown) {
    super(message, { cause });
    this.isTooLong = isTooLong;
    this.isLost = isLost(cause);
  }
}

const DEPTH = 5;

function isLost(error: unknown, depth = 0): boolean {
  if (error instanceof ConnectionLost) return true;
  return (
    depth < DEPTH &&
    typeof error === 'object' &&
    error !== null &&
    isLost((error as ProviderError).cause ?? (error as ProviderError).error, depth + 1)
  );
}

interface ProviderError {
  statusCode?: unknown;
  responseBody?: unknown;
  message?: unknown;
  cause?: unknown;
  data?: unknown;
  error?: unknown;
}

const TOO_LONG = new RegExp(
  [
    'context[_ -]?(?:length|window|size)',
    'maximum context',
    'prompt is too long',
    'input (?:is|length|tokens?)[^.]*(?:too long|exceed)',
    'too many (?:input )?tokens',
    'request_too_large',
    "exceeds the (?:available|model's) context",
  ].join('|'),
  'i',
);
const SHOWN = 600;

/** A ModelFailure from anything that the SDK threw or streamed as an error. */
export function modelFailure(error: unknown): ModelFailure {
  if (error instanceof ModelFailure) return error;
  const { statusCode, responseBody } = (
    typeof error === 'object' && error !== null ? error : {}
  ) as ProviderError;
  const words = wordsOf(error);
  const isTooLong =
    TOO_LONG.test(`${words} ${typeof responseBody === 'string' ? responseBody.slice(0, 4000) : ''}`) &&
    (statusCode === undefined || [400, 413, 422].includes(Number(statusCode)));
  if (typeof statusCode === 'number' && statusCode >= 400)
    return new ModelFailure(`The model's provider answered ${statusCode}: ${words}`, isTooLong, error);
  // Status 200 without a complete stream of the wire's form.
  if (typeof statusCode === 'number' || isUnreadable(error))
    return new ModelFailure(`The model's answer broke off or cannot be read: ${words}`, isTooLong, error);
  return new ModelFailure(`The model did not answer: ${words}`, isTooLong, error);
}

/**
 * Events that do not belong to the wire: the SDK has several error classes for this, and one case shows only
 * in a message.
 */
function isUnreadable(error: unknown): boolean {
  return (
    error instanceof Error &&
    (/^AI_(?:JSONParse|TypeValidation|InvalidResponseData|EmptyResponseBody)Error$/.test(error.name) ||
      error.message.startsWith('Expected a normalized'))
  );
}

function wordsOf(error: unknown): string {
  if (typeof error === 'string') return error.slice(0, SHOWN);
  if (typeof error !== 'object' || error === null) return String(error);
  const { message, error: inner, cause, responseBody } = error as ProviderError;
  const own =
    typeof message === 'string' && message !== ''
      ? message
      : inner === undefined
        ? shown(error)
        : wordsOf(inner);
  const further = cause instanceof Error && !own.includes(cause.message) ? ` (${cause.message})` : '';
  const body =
    typeof responseBody === 'string' && responseBody !== '' && !responseBody.includes(own)
      ? ` ${responseBody}`
      : '';
  return `${own}${further}${body}`.replace(/\s+/g, ' ').trim().slice(0, SHOWN);
}

function shown(value: object): string {
  try {
    return JSON.stringify(value);
  } catch {
    return 'an unknown error';
  }
}
