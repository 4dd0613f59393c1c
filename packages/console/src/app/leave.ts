/** Goes to a new page for good. A browser may keep this one for Back, as it was: it is then read anew. */
export function leaveTo(path: string): void {
  window.addEventListener('pageshow', ({ persisted }) => {
    if (persisted) location.reload();
  });
  location.assign(path);
}
