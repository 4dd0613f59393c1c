import { isUtf8 } from 'node:buffer';
import type { ConflictText, MarkerLabels } from './types.ts';

/** The same limit as for the sides of a conflict. */
export const MAX_SHOWN_BYTES = 1024 * 1024;

/**
 * Git's merged text with the names of the sides in its markers, and the regions from marker to marker. A user's
 * own line that looks like a marker does not contain a commit of the merge. A moved file can have conflicts of
 * both its sides within one region: their markers are longer. Null if the text is not UTF-8 or too long.
 */
export function conflictText(text: Buffer, { head, draft }: MarkerLabels): ConflictText | null {
  if (!isUtf8(text)) return null;
  const marker = new RegExp(`^(<{7,}|>{7,}) (?:(${head})|${draft})((?::.*)?\\r?)$`, 's');
  const lines = text.toString('utf8').split('\n');
  const regions: ConflictText['regions'] = [];
  let open: { fromLine: number; length: number } | undefined;
  for (const [i, line] of lines.entries()) {
    const [, sign, isHead, rest] = marker.exec(line) ?? [];
    if (!sign) continue;
    lines[i] = `${sign} ${isHead ? 'head' : 'draft'}${rest}`;
    if (sign.startsWith('<')) open ??= { fromLine: i + 1, length: sign.length };
    else if (sign.length === open?.length) {
      regions.push({ fromLine: open.fromLine, toLine: i + 1 });
      open = undefined;
    }
  }
  const content = lines.join('\n');
  return Buffer.byteLength(content) > MAX_SHOWN_BYTES ? null : { content, regions };
}
