/** What a failed call says to a person. */
import { HeadraceError, isCode, UncertainError } from '@headrace/client';
import type { Field } from '@headrace/client';

export interface Fault {
  title: string;
  message: string;
  requestId: string | null;
  /** Of the answer; null where something else failed. */
  status: number | null;
  /** Unknown or not for this user: the service does not say which. */
  isGone: boolean;
  /** What is wrong with single fields of a write. */
  fields: readonly Field[];
  /** Null for what is no answer of the service. */
  code: string | null;
  /** What some codes add. */
  details: Readonly<Record<string, unknown>>;
}

const NO_DETAILS = {};

/** Of what is unavailable, the message alone says that it is the host of source control. */
export const isHostAway = (error: unknown): boolean =>
  isCode(error, 'unavailable') && error.message.startsWith('The source control host');

export function faultOf(error: unknown): Fault {
  if (!(error instanceof HeadraceError))
    return {
      title: 'The page failed',
      message: error instanceof Error ? error.message : String(error),
      requestId: null,
      status: null,
      isGone: false,
      fields: [],
      code: null,
      details: NO_DETAILS,
    };
  const { requestId, status, fields, code, details } = error;
  return {
    ...wordsOf(error),
    requestId,
    status,
    code,
    details,
    fields: fields.map(inWords),
    isGone: error.code !== 'invalid_response' && (error.status === 404 || error.status === 403),
  };
}

/** A regular expression helps nobody who fills in a form. */
const inWords = ({ path, message }: Field): Field => ({
  path,
  message: message.startsWith('must match pattern')
    ? 'has characters or a form that are not allowed'
    : message,
});

/** What a refused write says: the service's own message, as the user already sees what it is about, and what to do. */
export function writeFaultOf(error: unknown): Fault {
  const fault = faultOf(error);
  const words = error instanceof HeadraceError ? WRITE_WORDS[error.status] : undefined;
  if (!words || !(error instanceof HeadraceError) || error instanceof UncertainError) return fault;
  if (error.code !== 'invalid_response')
    return { ...fault, title: words.title, message: `${error.message} ${words.todo}` };
  // What is before the service has limits of its own; its page says nothing to a reader.
  return error.status === 413 ? { ...fault, title: words.title, message: words.todo } : fault;
}

/** What a refusal says to who is not signed in yet: in the service's own words, as no role is concerned. */
export function entryFaultOf(error: unknown): Fault {
  const fault = writeFaultOf(error);
  const isSaid =
    error instanceof HeadraceError &&
    error.code !== 'invalid_response' &&
    (error.status === 401 || error.status === 403);
  return isSaid ? { ...fault, title: 'Refused', message: error.message } : fault;
}

const WRITE_WORDS: Record<number, { title: string; todo: string }> = {
  403: { title: 'Not allowed', todo: 'An owner or admin of the organization can change what you may do.' },
  404: { title: 'Not there', todo: 'It may be gone: reload the page to see.' },
  409: { title: 'Not possible now', todo: 'Look at how it is now, then try again.' },
  413: { title: 'Too large', todo: 'Make it smaller, then try again.' },
};

/** A fault in one line, for where there is no room for more. */
export const lineOf = ({ title, message, requestId }: Fault): string =>
  `${title}. ${message}${requestId ? ` Request ${requestId}.` : ''}`;

function wordsOf(error: HeadraceError): { title: string; message: string } {
  const { status, message, code, retryAfterMs } = error;
  if (error instanceof UncertainError)
    return {
      title: 'No answer',
      message:
        'The service may have done it. Try again within two minutes: until then, the same request is not done twice.',
    };
  if (code === 'network_error')
    return { title: 'The service did not answer', message: 'Check the connection, then try again.' };
  if (status === 401) return { title: 'Signed out', message: 'Sign in to go on.' };
  if (status === 429)
    return {
      title: 'Too many requests',
      message:
        retryAfterMs === null
          ? 'The service asks you to wait. Try again in a moment.'
          : `The service asks you to wait ${Math.ceil(retryAfterMs / 1000)} s. Try again then.`,
    };
  // The page of a proxy says nothing to a reader.
  if (code === 'invalid_response')
    return {
      title: 'The service did not answer',
      message: `Something before it did (status ${status}). Try again in a moment.`,
    };
  // Both look alike: who may not see something is not told that it exists.
  if (status === 404 || status === 403)
    return { title: 'Not here', message: 'It does not exist, or you may not see it. Check the address.' };
  if (isHostAway(error))
    return {
      title: 'The host does not answer',
      message: 'The service cannot reach the source control host now. Try again in a moment.',
    };
  if (status >= 500) return { title: 'The service failed', message: `${message} Try again in a moment.` };
  return { title: 'Refused', message };
}

/** The fault of one field of the body, by its JSON pointer. */
export const fieldFault = (fault: Fault | null, path: string): string | null =>
  fault?.fields.find((field) => field.path === path)?.message ?? null;
