/** Changes by hand that are not sent yet, in this tab's storage: a reload keeps them. */
export type Edits = Record<string, string | null>;

const PREFIX = 'headrace:edits:';

/** Texts by path, null for a deleted file. */
export function readEdits(sourceId: string): Edits {
  try {
    const value: unknown = JSON.parse(sessionStorage.getItem(PREFIX + sourceId) ?? '{}');
    return typeof value === 'object' && value !== null ? Object.assign(Object.create(null), value) : {};
  } catch {
    return {};
  }
}

/** Keeps the edits; none removes them. */
export function writeEdits(sourceId: string, edits: Edits): void {
  try {
    if (Object.keys(edits).length === 0) sessionStorage.removeItem(PREFIX + sourceId);
    else sessionStorage.setItem(PREFIX + sourceId, JSON.stringify(edits));
  } catch {
    // Without storage they last as long as the page.
  }
}

/** A field's text, whose lines end with a line feed, with the line ends of the file that it was. */
export function withLineEnds(text: string, before: string | undefined): string {
  const isWindows = before !== undefined && /\r\n/.test(before) && !/[^\r]\n/.test(before);
  return isWindows ? text.replaceAll(/\r?\n/g, '\r\n') : text;
}
