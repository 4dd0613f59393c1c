import { clean } from './db/clean-text.ts';

/**
 * Strangers' text as a block of a message: a CommonMark fence with the info string `text`, longer than any run
 * of its character inside. Line ends become LF, as CommonMark has them. The caller has cut the text.
 */
export function quotedText(text: string): string {
  const lines = clean(text).replace(/\r\n?/g, '\n');
  const fence = '`'.repeat(Math.max(3, longestRun(lines, '`') + 1));
  return `${fence}text\n${lines}${lines === '' || lines.endsWith('\n') ? '' : '\n'}${fence}`;
}

/**
 * Lines after which a text that a person wrote leaves nothing open: neither a fence nor a block of HTML, which
 * would swallow what follows, and then let it out where it is quoted. A line that opens a fence is content of
 * an open one; the bare line behind it closes both. Empty where nothing can be open.
 */
export function closingLines(text: string): string {
  const lines: string[] = [];
  const close = (fence: string, more = '') => lines.push(`${fence}end of the instructions${more}`, fence);
  const longest = (mark: string) => mark.repeat(Math.max(3, longestRun(text, mark)));
  const isHtml = /<(?:script|pre|style|textarea|[!?])/i.test(text);
  // Its first line ends the block of HTML, so that its second one opens a fence, which the last pair closes.
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
