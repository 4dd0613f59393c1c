/** The address of an issue: which ones are taken, which are the same issue, and how a person names it. */
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
 * What is wrong with an address: http or https alone, without a user. It is shown, and written into pull
 * requests: no credential may be in it.
 */
export function issueUrlFaults(path: string, text: string | undefined): Field[] {
  const url = text === undefined ? undefined : URL.parse(text);
  if (url === undefined) return [];
  const isTaken = url !== null && /^https?:$/.test(url.protocol) && !/^https?:[\\/]*[^\\/?#]*@/i.test(text!);
  return isTaken ? [] : [{ path, message: 'must be an http or https address without a user' }];
}

/** The same for all spellings of an address: case of scheme and host, fragment and last `/` do not count. */
export function issueKey(address: string): string {
  const { protocol, host, pathname, search } = new URL(address);
  return createHash('sha256')
    .update(`${protocol}//${host}${pathname.replace(/\/+$/, '')}${search}`)
    .digest('base64url');
}

/** `owner/name#N` at hosts of repositories, `KEY-N` at trackers that have keys, else the end of the path. */
export function identifierOf(address: string): string {
  const { pathname, host } = new URL(address);
  const [, repository, number] =
    /^\/([^/]+\/[^/]+|[^/]+(?:\/[^/]+)+\/-)\/issues\/([1-9]\d*)\/?$/.exec(pathname) ?? [];
  if (repository !== undefined) return `${readable(repository.replace(/\/-$/, ''))}#${number!}`;
  const segments = pathname.split('/').filter(Boolean);
  const key = segments.find((segment) => /^[A-Z][A-Z0-9_]*-[1-9]\d*$/.test(segment));
  return key ?? [...readable(segments.at(-1) ?? host)].slice(0, LAST_SEGMENT).join('');
}

/** As it was before it was escaped for an address, where that is a text. */
function readable(segment: string): string {
  try {
    const text = decodeURIComponent(segment);
    return /\p{Cc}/u.test(text) ? segment : text;
  } catch {
    return segment;
  }
}
