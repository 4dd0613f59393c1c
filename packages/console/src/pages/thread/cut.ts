/** Long text in steps: a page that shows ten megabytes at once answers no key. */

/** What is shown first, and what each step adds. */
export const FIRST = 20_000;
export const STEP = 200_000;

/** The beginning of the text, to a line's end if one is near. */
export function cutStart(text: string, length: number): string {
  if (text.length <= length) return text;
  const line = text.lastIndexOf('\n', length);
  const at = line > length * 0.8 ? line : length;
  return text.slice(0, wholeAt(text, at));
}

/** Never between the halves of a character. */
const wholeAt = (text: string, at: number): number => {
  const code = text.charCodeAt(at - 1);
  return code >= 0xd800 && code <= 0xdbff ? at - 1 : at;
};

/** The last lines, at most so many characters of them. */
export function lastLines(text: string, lines: number, length: number): string {
  const end = text.endsWith('\n') ? text.length - 1 : text.length;
  let at = end;
  for (let line = 0; line < lines && at > 0; line++) {
    at = text.lastIndexOf('\n', at - 1);
    if (at === -1) break;
  }
  const start = Math.max(at + 1, end - length);
  return text.slice(wholeAt(text, start), end);
}
