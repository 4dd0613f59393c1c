import { pointerToken } from './json-pointer.ts';

interface Level {
  path: string;
  /** Keys seen so far; null for an array. */
  keys: Set<string> | null;
  /** Key or index of the value that comes next. */
  next: string | number;
}

/**
 * The JSON pointers of members whose key their object has already, in order of the text, at most `limit`.
 * `text` must be valid JSON. A tokenizer with its own stack, so that depth costs no call stack.
 */
export function findDuplicateMembers(text: string, limit: number): string[] {
  const found: string[] = [];
  const levels: Level[] = [];
  const tokens = /"|[{}[\],]/g;
  let expectKey = false;
  for (let match = tokens.exec(text); match !== null && found.length < limit; match = tokens.exec(text)) {
    const level = levels.at(-1);
    switch (match[0]) {
      case '"': {
        const end = closingQuote(text, match.index + 1);
        tokens.lastIndex = end + 1;
        if (!expectKey || !level?.keys) break;
        const key = JSON.parse(text.slice(match.index, end + 1)) as string;
        if (level.keys.has(key)) found.push(`${level.path}/${pointerToken(key)}`);
        level.keys.add(key);
        level.next = key;
        expectKey = false;
        break;
      }
      case '{':
      case '[': {
        const isObject = match[0] === '{';
        levels.push({
          path: level ? `${level.path}/${pointerToken(String(level.next))}` : '',
          keys: isObject ? new Set() : null,
          next: 0,
        });
        expectKey = isObject;
        break;
      }
      case ',':
        if (level?.keys) expectKey = true;
        else if (level) level.next = (level.next as number) + 1;
        break;
      default:
        levels.pop();
        expectKey = false;
    }
  }
  return found;
}

function closingQuote(text: string, from: number): number {
  let end = text.indexOf('"', from);
  while (isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end;
}

function isEscaped(text: string, at: number): boolean {
  let backslashes = 0;
  while (text.charCodeAt(at - 1 - backslashes) === 0x5c) backslashes++;
  return backslashes % 2 === 1;
}
