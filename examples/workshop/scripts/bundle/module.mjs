import { tokens } from './scan.mjs';

const DECLARATION = /^export (?:async )?(?:function\*?|class|const) ([\p{ID_Start}$_][\p{ID_Continue}$]*)/u;
const IMPORT = /^import (?:\* as (\w+)|\{([^}]*)\}) from '(\.[^']+)'(?: with \{ type: 'json' \})?;$/;
const DEFAULT_IMPORT = /^import (\w+) from '(\.[^']+\.json)' with \{ type: 'json' \};$/;

// Only the forms that this code base uses are understood; anything else stops the build
// instead of producing a bundle that breaks in the browser.
function refuse(file, what) {
  throw new SyntaxError(`${file}: the bundler does not take ${what}`);
}

function readNames(list) {
  return list.split(',').map((part) => part.trim()).filter(Boolean).map((part) => {
    const [imported, local = imported] = part.split(/\s+as\s+/);
    return { imported, local };
  });
}

function readImport(file, statement) {
  const json = DEFAULT_IMPORT.exec(statement);
  if (json) return { target: json[2], names: [{ imported: 'default', local: json[1] }] };
  const match = IMPORT.exec(statement);
  if (!match) return refuse(file, statement);
  const [, namespace, names = '', target] = match;
  return namespace ? { target, namespace, names: [] } : { target, names: readNames(names) };
}

function endOfStatement(source, at) {
  for (const token of tokens(source, at)) if (token.text === ';') return token.end;
  return source.length;
}

/**
 * Takes a module apart.
 * @returns {{imports: object[], exports: string[], body: string}} `body` has no imports,
 * no `export` words and no comments; indentation is dropped outside templates.
 */
export function takeApart(file, source) {
  const imports = [];
  const exports = [];
  let body = '';
  let depth = 0;
  let skipTo = 0;
  for (const token of tokens(source)) {
    if (token.at < skipTo || token.kind === 'comment') continue;
    if (token.kind === 'space') {
      body += token.text.includes('\n') ? '\n' : ' ';
      continue;
    }
    if (depth === 0 && token.text === 'import') {
      skipTo = endOfStatement(source, token.at);
      imports.push(readImport(file, source.slice(token.at, skipTo).replace(/\s+/g, ' ')));
      continue;
    }
    if (token.kind === 'word' && token.text === 'import') refuse(file, 'a dynamic import');
    if (depth === 0 && token.text === 'export') {
      const declared = DECLARATION.exec(source.slice(token.at, token.at + 200));
      if (!declared) refuse(file, source.slice(token.at, token.at + 40));
      exports.push(declared[1]);
      skipTo = token.at + 'export '.length;
      continue;
    }
    if (token.kind === 'sign') depth += '{(['.includes(token.text) ? 1 : '})]'.includes(token.text) ? -1 : 0;
    body += token.text;
  }
  return { imports, exports, body: body.replace(/\n+/g, '\n').trim() };
}
