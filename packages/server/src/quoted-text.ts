import { clean } from './db/clean-text.ts';

/**
 * Untrusted text as a block of a message: a CommonMark fence with the info string `text`, longer than any run of
 * backticks in the text, and in the text `around` it. Line endings become LF, as CommonMark reads them. The caller
 * limits the length.
 */
export function quotedText(text: string, around = ''): string {
  const lines = clean(text).replace(/\r\n?/g, '\n');
  const fence = '`'.repeat(Math.max(3, longestRun(lines, '`') + 1, longestRun(around, '`') + 1));
  return `${fence}text\n${lines}${lines === '' || lines.endsWith('\n') ? '' : '\n'}${fence}`;
}

/**
 * Lines that close whatever a person's text leaves open, a fence or a block of HTML. An open block would swallow the
 * text that follows and release the text that is quoted there. Each pair of lines works in both cases: the first line
 * opens a fence or is content of an open one, and the bare second line closes it. Empty if nothing can be open.
 */
export function closingLines(text: string): string {
  const lines: string[] = [];
  const close = (fence: string, more = '') => lines.push(`${fence}end of the instructions${more}`, fence);
  const longest = (mark: string) => mark.repeat(Math.max(3, longestRun(text, mark)));
  const isHtml = /<(?:script|pre|style|textarea|[!?])/i.test(text);
  // The first line ends the block of HTML; the second one then opens a fence, which the last pair closes.
  if (isHtml) close('```', ' --> ?> ]]> </pre>');
  if (text.includes('~~~')) close(longest('~'));
  if (text.includes('```') || isHtml) close(longest('`'));
  return lines.join('\n');
}

function longestRun(text: string, mark: string): number {
  let longest = 0;
  for (const [run] of text.matchAll(mark === '`' ? /`+/g : /~+/g)) longest = Math.max(longest, run.length);
  return longest;
}
