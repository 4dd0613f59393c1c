/** Reads what `find -printf` said of a tree: one NUL-terminated record per entry, an empty one at the end. */
export interface Listed { path: string; kind: 'file' | 'folder' | 'link' | 'other'; mode: number; links: number; byteSize: number; isUtf8: boolean }

/** `%y %m %n %s %P`, NUL. */
export const FIND_FORMAT = '%y %m %n %s %P\\0';

const utf8 = new TextDecoder('utf-8', { fatal: true });
const KINDS: Record<string, Listed['kind']> = { f: 'file', d: 'folder', l: 'link' };

/** The entries of a listing that ends with an empty record. */
export function parseListing(bytes: Buffer): Listed[] {
  const entries: Listed[] = [];
  for (let at = 0; ;) {
    const end = bytes.indexOf(0, at);
    if (end <= at) return entries;
    entries.push(record(bytes.subarray(at, end)));
    at = end + 1;
  }
}

function record(bytes: Buffer): Listed {
  let at = 0;
  const field = (): string => {
    const end = bytes.indexOf(0x20, at);
    const text = bytes.toString('latin1', at, end);
    at = end + 1;
    return text;
  };
  const kind = KINDS[field()] ?? 'other';
  const [mode, links, byteSize] = [Number.parseInt(field(), 8), Number(field()), Number(field())];
  const name = bytes.subarray(at);
  try {
    return { path: utf8.decode(name), kind, mode, links, byteSize, isUtf8: true };
  } catch {
    return { path: name.toString('utf8'), kind, mode, links, byteSize, isUtf8: false };
  }
}
