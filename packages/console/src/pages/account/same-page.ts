/** Only a path of the console: an address could lead elsewhere with the user's trust. */
export function samePage(to: string | undefined): string {
  if (!to?.startsWith('/') || /^\/[/\\]/.test(to) || /[\n\r\t\\]/.test(to)) return '/';
  return to.replace(/^\/console(?=\/|$)/, '') || '/';
}
