// Splits JavaScript into tokens just finely enough to find imports and exports and to
// tell code from comments, strings and templates. It is no parser: expressions are
// skipped, never understood.

const IDENTIFIER = /[\p{ID_Start}$_][\p{ID_Continue}$\u200c\u200d]*/uy;
const STRING = /'(?:[^'\\\n]|\\[^])*'|"(?:[^"\\\n]|\\[^])*"/y;
const REGEXP = /\/(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*/y;
const NUMBER = /\d[\w.]*/y;
const SPACE = /\s+/y;
const COMMENT = /\/\/[^\n]*|\/\*[^]*?\*\//y;

// After these a slash begins a regular expression; after a value it divides.
const BEFORE_REGEXP = /^(?:[=(,:;!&|?{}[+\-*%<>~^]|return|typeof|case|in|of|=>)$/;

function take(pattern, source, at) {
  pattern.lastIndex = at;
  return pattern.exec(source)?.[0] ?? null;
}

/** The end of a template that begins at `at`; expressions in it are scanned, so that they may nest. */
function endOfTemplate(source, at) {
  let position = at + 1;
  while (position < source.length) {
    const character = source[position];
    if (character === '\\') position += 2;
    else if (character === '`') return position + 1;
    else if (source.startsWith('${', position)) position = endOfExpression(source, position + 2);
    else position += 1;
  }
  throw new SyntaxError('a template does not end');
}

function endOfExpression(source, at) {
  let depth = 1;
  for (const token of tokens(source, at)) {
    if (token.text === '{') depth += 1;
    if (token.text === '}') depth -= 1;
    if (depth === 0) return token.end;
  }
  throw new SyntaxError('an expression in a template does not end');
}

/**
 * Tokens from `start`: `{kind, text, at, end}` with kinds `space`, `comment`, `word`,
 * `string`, `template`, `regexp`, `number` and `sign`.
 */
export function* tokens(source, start = 0) {
  let at = start;
  let previous = ';';
  while (at < source.length) {
    const token = next(source, at, previous);
    yield token;
    at = token.end;
    if (token.kind !== 'space' && token.kind !== 'comment') previous = token.text;
  }
}

function next(source, at, previous) {
  const make = (kind, text) => ({ kind, text, at, end: at + text.length });
  if (source[at] === '`') return make('template', source.slice(at, endOfTemplate(source, at)));
  for (const [kind, pattern] of [['space', SPACE], ['comment', COMMENT], ['word', IDENTIFIER], ['string', STRING], ['number', NUMBER]]) {
    const text = take(pattern, source, at);
    if (text) return make(kind, text);
  }
  if (source[at] === '/' && BEFORE_REGEXP.test(previous)) {
    const text = take(REGEXP, source, at);
    if (text) return make('regexp', text);
  }
  return make('sign', source.startsWith('=>', at) ? '=>' : source[at]);
}
