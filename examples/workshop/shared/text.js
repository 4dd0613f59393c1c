/** Lower case without diacritics: `Säge` and `sage` are found by the same query. */
export function fold(text) {
  return text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replaceAll('ß', 'ss')
    .toLowerCase();
}

/** The folded words of a text. */
export function words(text) {
  return fold(text).match(/[\p{L}\p{N}]+/gu) ?? [];
}

/** `text` cut to at most `limit` characters, at a word where possible. */
export function shorten(text, limit) {
  if (text.length <= limit) return text;
  const cut = text.slice(0, limit - 1);
  const space = cut.lastIndexOf(' ');
  return `${cut.slice(0, space > limit / 2 ? space : limit - 1).trimEnd()}…`;
}
