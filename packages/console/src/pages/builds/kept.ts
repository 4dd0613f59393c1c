/** What was typed last in a dialog, per app: it outlives a reload and an ended session. */

export function readKept<T extends object>(name: string): Partial<T> | null {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(`headrace:${name}`) ?? 'null');
    return typeof kept === 'object' ? kept : null;
  } catch {
    return null;
  }
}

/**
 * Where a dialog's text is kept: that of one that begins with an existing build or preview apart, so that each begins
 * with what it names.
 */
export const keptName = (
  kind: 'build' | 'preview',
  appId: string,
  from: { id: string } | undefined,
): string => `${kind}:${appId}${from ? `:${from.id}` : ''}`;

/** It was sent: the next dialog of the same kind begins with it. */
export function settleKept(kind: 'build' | 'preview', appId: string, from: { id: string } | undefined): void {
  try {
    const name = `headrace:${keptName(kind, appId, from)}`;
    const value = localStorage.getItem(name);
    if (!from || value === null) return;
    localStorage.removeItem(name);
    localStorage.setItem(`headrace:${keptName(kind, appId, undefined)}`, value);
  } catch {
    // As below.
  }
}

export function keep(name: string, value: object): void {
  try {
    localStorage.setItem(`headrace:${name}`, JSON.stringify(value));
  } catch {
    // Without storage, the dialog begins with the last build.
  }
}
