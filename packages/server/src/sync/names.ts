/** The defaults of a new pull request: its branch, title and body. */
import { inlineText } from '../inline-text.ts';

const SLUG = 40;
const SUFFIX = 6;
const TITLE = 256;
const FIRST_LINE = 72;
const BODY = 4_000;

/** The branch of a thread's first pull request; further ones have a number behind it. */
export function branchName(prefix: string, title: string, threadId: string): string {
  const slug = title
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, SLUG)
    .replace(/^-+|-+$/g, '');
  return `${prefix}${slug || 'thread'}-${threadId.slice(-SUFFIX)}`;
}

export const numbered = (branch: string, n: number): string => (n === 1 ? branch : `${branch}-${n}`);

/** The first line of a text that has something in it. */
const firstLine = (text: string): string => text.split(/[\r\n]/).find((line) => line.trim()) ?? '';

export const defaultTitle = (title: string | null, firstMessage: string | null): string =>
  inlineText(title ?? '', TITLE) || inlineText(firstLine(firstMessage ?? ''), FIRST_LINE) || 'Update';

interface Issues {
  trackerIssueUrl: string | null;
  errorTrackerUrl: string | null;
  /** Where people find the repository; null where it has no issues. */
  repositoryUrl: string | null;
}

/** The last reply, then the issues that the change is for. */
export function defaultBody(reply: string | null, issues: Issues): string {
  const points = [...(reply ?? '').trim()];
  const text = points.length <= BODY ? points.join('') : `${points.slice(0, BODY - 1).join('')}…`;
  return [text, issueLines(issues).join('\n')].filter(Boolean).join('\n\n');
}

function issueLines({ trackerIssueUrl, errorTrackerUrl, repositoryUrl }: Issues): string[] {
  const own = trackerIssueUrl === null ? null : issueOf(trackerIssueUrl, repositoryUrl);
  const isOwn = own !== null && repositoryUrl!.toLowerCase().endsWith(`/${own.fullName.toLowerCase()}`);
  return [
    ...(trackerIssueUrl === null
      ? []
      : [isOwn ? `Closes #${own.number}` : `Refs ${inlineText(trackerIssueUrl, 2_048)}`]),
    ...(errorTrackerUrl === null ? [] : [`Refs ${inlineText(errorTrackerUrl, 2_048)}`]),
  ];
}

/** The issue that an address names at a repository's own host; null for any other address. */
export function issueOf(
  address: string,
  repositoryUrl: string | null,
): { fullName: string; number: number } | null {
  const [url, own] = [URL.parse(address), repositoryUrl === null ? null : URL.parse(repositoryUrl)];
  if (!url || !own || url.host !== own.host) return null;
  const named = /^\/([^/]+\/[^/]+)\/issues\/([1-9]\d{0,15})\/?$/.exec(url.pathname);
  return named && { fullName: named[1]!, number: Number(named[2]) };
}
