/** Wires the parts together, once per process. The service's key is only here. */
import { createClient } from '@headrace/client';
import { createBuilder } from './builder.js';
import { openDatabase } from './database.js';
import { followFeed } from './feed.js';
import { createHandler } from './handler.js';

const { HEADRACE_URL = 'http://127.0.0.1:4400', HEADRACE_KEY, DATABASE_FOLDER = '.data' } = process.env;

async function start() {
  if (!HEADRACE_KEY) return () => Response.json({ code: 'not_configured', message: 'Set HEADRACE_KEY to a service key and start again.' }, { status: 503 });
  const headrace = createClient({ baseUrl: HEADRACE_URL, key: HEADRACE_KEY });
  const db = await openDatabase(DATABASE_FOLDER);
  followFeed({ headrace, db }).catch((error) => console.error('The feed has ended:', error.message));
  return createHandler(createBuilder({ headrace, db }), userOf);
}

/** A sign-in for demonstration: put your own session here. */
const userOf = (request) => /(?:^|;\s*)user=([a-z0-9-]{1,40})(?:;|$)/.exec(request.headers.get('cookie') ?? '')?.[1] ?? null;

/** Next bundles pages and routes separately: they share one backend. */
export const backend = () => (globalThis.headraceBackend ??= start());
