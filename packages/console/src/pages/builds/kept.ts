/** What was typed last in a dialog, per app: it outlives a reload and an ended session. */

export function readKept<T extends object>(name: string): Partial<T> | null {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(`headrace:${name}`) ?? 'null');
    return typeof kept === 'object' ? kept : null;
  } catch {
    return null;
  }
}

export function keep(name: string, value: object): void {
  try {
    localStorage.setItem(`headrace:${name}`, JSON.stringify(value));
  } catch {
    // Without storage, the dialog begins with the last build.
  }
}
