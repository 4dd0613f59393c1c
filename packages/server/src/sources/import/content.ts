import { sha256Of } from '../../trees/manifest.ts';
import { MAX_FILE_BYTES, RULES } from './bundle-rules.ts';

export interface Content {
  bytes: Buffer;
  sha256: string;
}

/** The longest base64 text of a file that is not too large. */
const MAX_BASE64 = Math.ceil(MAX_FILE_BYTES / 3) * 4;

/** The bytes that a `content` member encodes, or the rule that it breaks. */
export function decodeContent(content: string, encoding: 'utf8' | 'base64' | undefined): Content | string {
  const bytes = encoding === 'base64' ? decodeBase64(content) : decodeText(content);
  return typeof bytes === 'string' ? bytes : { bytes, sha256: sha256Of(bytes) };
}

function decodeText(content: string): Buffer | string {
  if (!content.isWellFormed()) return RULES.utf8;
  if (content.length > MAX_FILE_BYTES || Buffer.byteLength(content) > MAX_FILE_BYTES) return RULES.fileSize;
  return Buffer.from(content, 'utf8');
}

/**
 * Node decodes leniently: encoding the result again shows every deviation (white space, other alphabet,
 * padding, stray bits).
 */
function decodeBase64(content: string): Buffer | string {
  if (content.length > MAX_BASE64) return RULES.fileSize;
  const bytes = Buffer.from(content, 'base64');
  if (bytes.toString('base64') !== content) return RULES.base64;
  return bytes.length > MAX_FILE_BYTES ? RULES.fileSize : bytes;
}
