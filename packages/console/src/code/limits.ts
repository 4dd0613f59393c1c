/** Longer texts stay plain. */
export const MAX_HIGHLIGHTED = 512 * 1024;
/** Texts with a longer line stay plain. */
export const MAX_HIGHLIGHTED_LINE = 20_000;
/** A row shows so many characters of its line; the rest is counted. */
export const MAX_LINE = 4000;
/** Names of classes in `code.css`; highlights carry the index. */
export const CLASSES = [
  '',
  'tok-keyword',
  'tok-string',
  'tok-comment',
  'tok-number',
  'tok-type',
  'tok-strong',
];
