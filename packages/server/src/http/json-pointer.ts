/** A key as a part of a JSON pointer (RFC 6901). */
export function pointerToken(key: string): string {
  return /[~/]/.test(key) ? key.replaceAll('~', '~0').replaceAll('/', '~1') : key;
}
