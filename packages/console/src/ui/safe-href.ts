const SAFE = new Set(['http:', 'https:', 'mailto:']);

/** The address if a click on it can only open a page or a letter. */
export function safeHref(href: string): string | null {
  try {
    // Without a base, a relative address is none: it would lead into the console.
    const url = new URL(href);
    return SAFE.has(url.protocol) ? url.href : null;
  } catch {
    return null;
  }
}
