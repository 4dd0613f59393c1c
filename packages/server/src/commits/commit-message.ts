import { inlineText } from '../inline-text.ts';

/** Longest subject in code points, and how many runs a commit names. */
const SUBJECT = 72;
const RUNS = 20;

interface CommitMessage {
  /** A text whose first line becomes the subject; without one it is `Update`. */
  subject: string | null;
  threadId: string;
  /** Runs since the last commit, the oldest first: the newest are named. */
  runIds: readonly string[];
  /** Users of the runs' messages, where they are to be named. */
  coAuthors?: readonly { name: string; email: string }[];
}

/** The subject and the trailers of a commit that the service makes. No name can add a trailer. */
export function commitMessage({ subject, threadId, runIds, coAuthors = [] }: CommitMessage): string {
  const trailers = [
    `Headrace-Thread: ${threadId}`,
    ...runIds.slice(-RUNS).map((id) => `Headrace-Run: ${id}`),
    ...new Set(coAuthors.flatMap(coAuthorLine)),
  ];
  return `${inlineText(firstLine(subject ?? ''), SUBJECT) || 'Update'}\n\n${trailers.join('\n')}\n`;
}

/** The first line that has anything in it. */
const firstLine = (text: string): string =>
  text.split(/[\n\r\u0085\u2028\u2029]/u).find((line) => line.trim()) ?? '';

/** None for an address that git would not take for one. */
function coAuthorLine({ name, email }: { name: string; email: string }): string[] {
  if (!/^[^\s<>\p{Cc}]+@[^\s<>\p{Cc}]+$/u.test(email)) return [];
  const plain = inlineText(name.replace(/[<>]/g, ''), 100) || email.split('@')[0]!;
  return [`Co-authored-by: ${plain} <${email}>`];
}
