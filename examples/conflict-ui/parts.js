/** Splits a merged text into parts: text that both sides agree on, and conflicts. */
export function partsOf({ content, regions }) {
  const lines = content.split(/(?<=\n)/);
  const parts = [];
  let at = 0;
  for (const { fromLine, toLine } of regions) {
    if (fromLine - 1 > at) parts.push({ text: lines.slice(at, fromLine - 1).join('') });
    const inside = lines.slice(fromLine, toLine - 1);
    const middle = inside.findIndex((line) => /^={7}\r?\n?$/.test(line));
    parts.push({ head: inside.slice(0, middle).join(''), draft: inside.slice(middle + 1).join('') });
    at = toLine;
  }
  if (at < lines.length) parts.push({ text: lines.slice(at).join('') });
  return parts;
}

export const isConflict = (part) => part.head !== undefined;

/** The text with each conflict decided as `head`, `draft` or `both`. Null while one is undecided. */
export function textOf(parts, choices) {
  const texts = parts.map((part, i) => {
    if (!isConflict(part)) return part.text;
    return { head: part.head, draft: part.draft, both: part.head + part.draft }[choices[i]] ?? null;
  });
  return texts.includes(null) ? null : texts.join('');
}
