const TYPES: Record<string, string> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  avif: 'image/avif',
  ico: 'image/x-icon',
  bmp: 'image/bmp',
};

/** Media type of a picture by its name; null for other files. SVG is text. */
export function imageType(path: string): string | null {
  const ending = path.split('.').at(-1)!.toLowerCase();
  return Object.hasOwn(TYPES, ending) ? TYPES[ending]! : null;
}
