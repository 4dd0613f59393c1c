/** Reads what `find -printf` said of a tree: one NUL-terminated record per entry, an empty one at the end. */
export interface Listed {
  path: string;
  kind: 'file' | 'folder' | 'link' | 'other';
  mode: number;
  links: number;
  byteSize: number;
  /** Number and change time: together they tell a file that was never written. */
  inode: string;
  changedAt: string;
  isUtf8: boolean;
}

const FIELDS = '%y %m %n %s %i %C@';
/** Below one starting point. */
export const FIND_FORMAT = `${FIELDS} %P\\0`;
/** Of several starting points that all begin with `./`. */
export const FIND_FORMAT_MANY = `${FIELDS} %p\\0`;

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const [DOT, SLASH] = [0x2e, 0x2f];
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
  const [inode, changedAt] = [field(), field()];
  const name = bytes.subarray(bytes[at] === DOT && bytes[at + 1] === SLASH ? at + 2 : at);
  const rest = { kind, mode, links, byteSize, inode, changedAt };
  try {
    return { path: utf8.decode(name), ...rest, isUtf8: true };
  } catch {
    return { path: name.toString('utf8'), ...rest, isUtf8: false };
  }
}
