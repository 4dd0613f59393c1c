import { sha256Of } from '../../trees/manifest.ts';
import { fileBytesRule } from '../../trees/limits.ts';
import type { SourceLimits } from '../../trees/limits.ts';
import { RULES } from './bundle-rules.ts';

export interface Content {
  bytes: Buffer;
  sha256: string;
}

/** The bytes that a `content` member encodes, or the rule that it breaks. */
export function decodeContent(
  content: string,
  encoding: 'utf8' | 'base64' | undefined,
  limits: SourceLimits,
): Content | string {
  const bytes = encoding === 'base64' ? decodeBase64(content, limits) : decodeText(content, limits);
  return typeof bytes === 'string' ? bytes : { bytes, sha256: sha256Of(bytes) };
}

function decodeText(content: string, limits: SourceLimits): Buffer | string {
  if (!content.isWellFormed()) return RULES.utf8;
  const { fileBytes } = limits;
  if (content.length > fileBytes || Buffer.byteLength(content) > fileBytes) return fileBytesRule(limits);
  return Buffer.from(content, 'utf8');
}

/**
 * Node decodes leniently: encoding the result again shows every deviation (white space, other alphabet,
 * padding, stray bits).
 */
function decodeBase64(content: string, limits: SourceLimits): Buffer | string {
  const { fileBytes } = limits;
  // The longest text of a file that is not too large.
  if (content.length > Math.ceil(fileBytes / 3) * 4) return fileBytesRule(limits);
  const bytes = Buffer.from(content, 'base64');
  if (bytes.toString('base64') !== content) return RULES.base64;
  return bytes.length > fileBytes ? fileBytesRule(limits) : bytes;
}
