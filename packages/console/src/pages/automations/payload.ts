/** As the service. */
const MOST_BYTES = 256 * 1024;

/** Nothing typed is no payload. */
export function payloadOf(typed: string): { payload?: Record<string, unknown>; fault: string | null } {
  if (typed.trim() === '') return { fault: null };
  try {
    const value = JSON.parse(typed) as unknown;
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      return { fault: 'An object: { … }.' };
    if (new TextEncoder().encode(JSON.stringify(value)).length > MOST_BYTES)
      return { fault: 'It has more than 256 KiB.' };
    return { payload: value as Record<string, unknown>, fault: null };
  } catch (error) {
    return { fault: `Not JSON: ${(error as Error).message}` };
  }
}
