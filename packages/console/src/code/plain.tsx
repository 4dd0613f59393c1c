import { Fragment } from 'react';
import type { ReactNode } from 'react';
import { codeName, hiddenName, splitHidden } from './hidden.ts';

/** Text that others wrote, as text nodes: bidi controls, zero-width and control characters are visible marks. */
export function Plain({ text }: { text: string }): ReactNode {
  const pieces = splitHidden(text);
  if (pieces.length === 0) return null;
  if (pieces.length === 1 && typeof pieces[0] === 'string') return pieces[0];
  return pieces.map((piece, index) =>
    typeof piece === 'string' ? (
      <Fragment key={index}>{piece}</Fragment>
    ) : (
      <span key={index} className="hidden-mark" title={codeName(piece)}>
        {hiddenName(piece)}
      </span>
    ),
  );
}
