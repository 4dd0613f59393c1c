/** Next calls this once when its server starts: the feed is followed from then on, whether somebody looks or not. */
export async function register() {
  if (process.env.NEXT_RUNTIME === 'nodejs') (await import('./backend/server.js')).backend();
}
