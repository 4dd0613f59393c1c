/** Files of lines `NAME=VALUE`, as Node's `util.parseEnv` reads them, also where there is no Node. */

/**
 * Of several with one name, the last one counts, in the first one's place. Lines without a name or without `=` are left
 * out, and `export NAME=` names NAME also without a value, which Node does not do.
 */
export function parseEnvFile(text: string): Map<string, string> {
  const values = new Map<string, string>();
  let rest = text.replaceAll('\r', '');
  while ((rest = trim(rest)) !== '') {
    const at = rest.search(/[=\n]/);
    if (rest.startsWith('#') || rest[at] !== '=') {
      rest = afterLine(rest);
      continue;
    }
    const name = trim(trim(rest.slice(0, at)).replace(/^export /, ''));
    rest = rest.slice(at + 1);
    if (name === '') {
      rest = afterLine(rest);
      continue;
    }
    const { value, after } = valueOf(rest);
    values.set(name, value);
    rest = after;
  }
  return values;
}

/** What stands behind `=`, and the text after its line. */
function valueOf(text: string): { value: string; after: string } {
  if (text === '' || text.startsWith('\n')) return { value: '', after: text.slice(1) };
  const rest = trim(text);
  const quote = /^["'`]/.exec(rest)?.[0];
  const end = quote === undefined ? -1 : rest.indexOf(quote, 1);
  if (end !== -1) {
    const value = rest.slice(1, end);
    return {
      value: quote === '"' ? value.replaceAll(String.raw`\n`, '\n') : value,
      after: afterLine(rest.slice(end + 1)),
    };
  }
  const line = rest.split('\n', 1)[0]!;
  return { value: quote === undefined ? trim(line.split('#', 1)[0]!) : line, after: afterLine(rest) };
}

function afterLine(text: string): string {
  const end = text.indexOf('\n');
  return end === -1 ? '' : text.slice(end + 1);
}

const trim = (text: string) => text.replace(/^[ \t\n]+/, '').replace(/[ \t\n]+$/, '');
