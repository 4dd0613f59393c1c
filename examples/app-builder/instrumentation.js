/** Next calls this once when its server starts: from then on it follows the feed, even without users. */
export async function register() {
  if (process.env.NEXT_RUNTIME === 'nodejs') (await import('./backend/server.js')).backend();
}
