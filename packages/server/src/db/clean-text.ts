/** PostgreSQL's text takes no NUL, its jsonb no lone surrogate: what comes out of a sandbox may have both. */
export const clean = (text: string): string => text.replaceAll('\0', '\u{fffd}').toWellFormed();
