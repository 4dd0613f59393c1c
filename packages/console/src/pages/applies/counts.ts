/** What a three-way summary counts. */

interface Changes {
  path: string;
  oldPath?: string;
}

/** A move changes the path that it left, too. */
export function countsOf(ofHead: readonly Changes[], ofDraft: readonly Changes[]) {
  const [head, draft] = [ofHead, ofDraft].map(
    (files) =>
      new Set(files.flatMap(({ path, oldPath }) => (oldPath === undefined ? [path] : [path, oldPath]))),
  ) as [Set<string>, Set<string>];
  const both = head.intersection(draft).size;
  return { head: head.size - both, draft: draft.size - both, both };
}
