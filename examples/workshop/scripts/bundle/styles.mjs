import { readFile } from 'node:fs/promises';
import path from 'node:path';

const IMPORT = /@import '([^']+)';/g;

/** The sources that a stylesheet imports, in order; the sheet with imports has no rules of its own. */
export async function collectStyles(entry) {
  const list = await readFile(entry, 'utf8');
  const files = [...list.matchAll(IMPORT)].map(([, target]) => path.resolve(path.dirname(entry), target));
  return Promise.all(files.map((file) => readFile(file, 'utf8')));
}

/**
 * CSS without comments and needless space. Strings are kept as they are; the spaces around
 * `+` and `-` stay, because `calc()` needs them.
 */
export function minifyCss(source) {
  return source
    .replace(/("[^"]*"|'[^']*')|\/\*[^]*?\*\//g, (_whole, text) => text ?? '')
    .replace(/("[^"]*"|'[^']*')|\s*([{};,])\s*|:\s+|\s+/g, (whole, text, sign) => text ?? sign ?? (whole.startsWith(':') ? ':' : ' '))
    .replaceAll(';}', '}')
    .trim();
}
