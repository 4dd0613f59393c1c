/** PostgreSQL's text takes no NUL, its jsonb no lone surrogate: what comes out of a sandbox may have both. */
export const clean = (text: string): string => text.replaceAll('\0', '\u{fffd}').toWellFormed();

/** Strangers' text for a message: control characters could write over a reader's terminal. */
export const escapeControls = (text: string): string =>
  clean(text).replace(/\p{Cc}/gu, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`);
