import { useState } from 'react';
import { layOut } from './layout.ts';
import type { Layout } from './layout.ts';
import type { HeadOf, Strand } from './strands.ts';

interface Given {
  heads: readonly HeadOf[];
  strands: readonly Strand[];
  capacity: number;
  isFiltered: boolean;
}

/** The layout of what is given; threads stay in the lanes that they had before. */
export function useLayout(given: Given): Layout {
  const [last, setLast] = useState(() => ({ ...given, layout: layOut(given.heads, given.strands, given) }));
  const isSame = (['heads', 'strands', 'capacity', 'isFiltered'] as const).every(
    (name) => last[name] === given[name],
  );
  if (isSame) return last.layout;
  const layout = layOut(given.heads, given.strands, { ...given, kept: last.layout.kept });
  setLast({ ...given, layout });
  return layout;
}
