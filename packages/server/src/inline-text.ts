/**
 * Strangers' text within a line of ours: no line breaks, no control characters, no backticks, at most `max`
 * code points.
 */
export function inlineText(text: string, max = 1000): string {
  const plain = text
    .replace(/[\p{Cc}\u2028\u2029]+/gu, ' ')
    .replaceAll('`', "'")
    .trim();
  const points = Array.from(plain.slice(0, max * 2 + 2));
  return points.length <= max
    ? plain
    : `${points
        .slice(0, max - 1)
        .join('')
        .trimEnd()}…`;
}
