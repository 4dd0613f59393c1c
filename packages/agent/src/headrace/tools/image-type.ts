/** The media type of an image that models can read, by its first bytes; undefined for anything else. */
export function imageTypeOf(bytes: Buffer): string | undefined {
  const starts = (text: string, at = 0): boolean =>
    bytes.subarray(at, at + text.length).equals(Buffer.from(text, 'latin1'));
  if (starts('\x89PNG\r\n\x1a\n')) return 'image/png';
  if (starts('\xff\xd8\xff')) return 'image/jpeg';
  if (starts('GIF87a') || starts('GIF89a')) return 'image/gif';
  if (starts('RIFF') && starts('WEBP', 8)) return 'image/webp';
  return undefined;
}
