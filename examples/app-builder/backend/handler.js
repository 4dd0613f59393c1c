/** The routes below `/api`, from Request to Response: Next, a test or another server can call it. */
import { HeadraceError } from '@headrace/client';

/** The fields of each action's body. */
const ACTIONS = { prompt: ['content'], apply: ['threadId', 'expectedSourceId'], build: ['threadId'], preview: ['threadId'], undo: ['sourceId'] };
const MAX_TEXT = 100_000;

const refusal = (status, code, message) => Response.json({ code, message }, { status });

export const createHandler = (builder, userOf) => async (request) => {
  try {
    const user = userOf(request);
    if (!user) throw refusal(401, 'not_signed_in', 'Sign in first.');
    const { pathname, searchParams } = new URL(request.url);
    const action = pathname.replace(/^\/api\//, '');
    if (request.method === 'GET' && action === 'state') return Response.json(await builder.state(user));
    if (request.method === 'GET' && action === 'follow') return lines(await builder.follow(user, searchParams.get('thread') ?? '', request.signal));
    if (request.method !== 'POST' || !Object.hasOwn(ACTIONS, action)) throw refusal(404, 'not_found', 'There is no such address.');
    return Response.json(await builder[action](user, ...(await inputOf(request, ACTIONS[action]))));
  } catch (error) {
    return refused(error);
  }
};

async function inputOf(request, names) {
  // A page on another site must not act with this user's cookie.
  if (!['same-origin', 'none', null].includes(request.headers.get('sec-fetch-site'))) throw refusal(403, 'forbidden', 'This request comes from another site.');
  const key = request.headers.get('idempotency-key') ?? '';
  if (!/^[\w-]{16,64}$/.test(key)) throw refusal(400, 'invalid_request', 'Send an Idempotency-Key of 16 to 64 letters and digits.');
  const body = await request.json().catch(() => null);
  for (const name of names) {
    const value = body?.[name];
    if (typeof value !== 'string' || !value.trim() || value.length > MAX_TEXT) throw refusal(400, 'invalid_request', `${name} has to be a text.`);
  }
  return [body, key];
}

/** One JSON document per line, as the items arrive; ends when the browser disconnects. */
function lines(items) {
  const encoder = new TextEncoder();
  const encoded = async function* () {
    for await (const item of items) yield encoder.encode(`${JSON.stringify(item)}\n`);
  };
  return new Response(ReadableStream.from(encoded()), { headers: { 'content-type': 'application/x-ndjson', 'cache-control': 'no-store' } });
}

/** Passes refusals of the service to the user, except those that only concern this server's own key. */
function refused(error) {
  if (error instanceof HeadraceError && error.status !== 401 && error.status !== 403)
    return Response.json({ code: error.code, message: error.message, fields: error.fields }, { status: error.status || 503 });
  if (error instanceof Response) return error;
  console.error(error.message);
  return refusal(502, 'failed', 'This did not work. Try again later.');
}
