import { readFile } from 'node:fs/promises';
import path from 'node:path';

const TYPES = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.json': 'application/json',
};

// Names with a content hash never change; everything else is asked for again.
const HASHED = /\.[0-9a-f]{10}\.(?:js|css)$/;

/** A file below `root` for a URL path, or null. The path cannot leave the root. */
export async function staticFile(root, urlPath) {
  let relative;
  try {
    relative = decodeURIComponent(urlPath === '/' ? '/index.html' : urlPath).slice(1);
  } catch {
    return null;
  }
  const file = path.resolve(root, relative);
  const type = TYPES[path.extname(file)];
  if (!file.startsWith(path.resolve(root) + path.sep) || relative.includes('\0') || !type) return null;
  try {
    const body = await readFile(file);
    return { body, type, cache: HASHED.test(file) ? 'public, max-age=31536000, immutable' : 'no-cache' };
  } catch (error) {
    if (error.code === 'ENOENT' || error.code === 'EISDIR') return null;
    throw error;
  }
}
