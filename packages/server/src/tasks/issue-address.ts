/** Addresses of issues: which are accepted, which denote the same issue, and its short name. */
import { createHash } from 'node:crypto';
import Type from 'typebox';
import type { Field } from '../http/errors.ts';

const LAST_SEGMENT = 100;

export const IssueUrl = Type.String({
  format: 'uri',
  maxLength: 2048,
  examples: ['https://tracker.example.com/TASK-1'],
});

/**
 * What is wrong with an address: it must use http or https and have no user. Responses and pull requests show it, so
 * it must not contain a credential.
 */
export function issueUrlFaults(path: string, text: string | undefined): Field[] {
  const url = text === undefined ? undefined : URL.parse(text);
  if (url === undefined) return [];
  const isTaken = url !== null && /^https?:$/.test(url.protocol) && !/^https?:[\\/]*[^\\/?#]*@/i.test(text!);
  return isTaken ? [] : [{ path, message: 'must be an http or https address without a user' }];
}

/** Equal for all spellings of an address: the case of scheme and host, the fragment and trailing slashes do not matter. */
export function issueKey(address: string): string {
  const { protocol, host, pathname, search } = new URL(address);
  return createHash('sha256')
    .update(`${protocol}//${host}${pathname.replace(/\/+$/, '')}${search}`)
    .digest('base64url');
}

/** `owner/name#N` for repository hosts, `KEY-N` for trackers with keys, else the last path segment. */
export function identifierOf(address: string): string {
  const { pathname, host } = new URL(address);
  const [, repository, number] =
    /^\/([^/]+\/[^/]+|[^/]+(?:\/[^/]+)+\/-)\/issues\/([1-9]\d*)\/?$/.exec(pathname) ?? [];
  if (repository !== undefined) return `${readable(repository.replace(/\/-$/, ''))}#${number!}`;
  const segments = pathname.split('/').filter(Boolean);
  const key = segments.find((segment) => /^[A-Z][A-Z0-9_]*-[1-9]\d*$/.test(segment));
  return key ?? [...readable(segments.at(-1) ?? host)].slice(0, LAST_SEGMENT).join('');
}

/** The decoded segment, if it is readable text. */
function readable(segment: string): string {
  try {
    const text = decodeURIComponent(segment);
    return /\p{Cc}/u.test(text) ? segment : text;
  } catch {
    return segment;
  }
}
