/**
 * Answers that are on their way before any script of the page runs: the service writes a preload of each into the page,
 * for who may be signed in. The first call that asks for one gets it.
 */

/** From the start of the scripts. A later call means what is true then. */
const LIFE_MS = 10_000;

const links = globalThis.document?.querySelectorAll<HTMLLinkElement>('link[rel="preload"][as="fetch"]') ?? [];
// Asked for as the links ask: a browser takes a preload only for an equal request.
const answers = new Map([...links].map(({ href }) => [href, answerOf(href).catch(() => null)]));
if (answers.size) setTimeout(() => answers.clear(), LIFE_MS);

/** `fetch`, with what was asked for early. */
export const earlyFetch: typeof fetch = async (input, init) => {
  const address = input instanceof Request ? input.url : new URL(input, location.href).href;
  // After a write, such as a sign-in, they may be wrong.
  if ((init?.method ?? 'GET') !== 'GET') answers.clear();
  const early = answers.get(address);
  answers.delete(address);
  return (early && (await until(early, init?.signal))) ?? fetch(input, init);
};

/** Read to its end: a body that nobody reads, in a tab that follows another one, would keep its connection. */
async function answerOf(href: string): Promise<Response> {
  const response = await fetch(href);
  const answer = new Response(await response.arrayBuffer(), response);
  // It was asked for before anybody counted: nothing is learned from its time.
  answer.headers.delete('date');
  return answer;
}

/** Null if the signal aborts first. */
function until<T>(work: Promise<T>, signal: AbortSignal | null | undefined): Promise<T | null> {
  return new Promise((resolve) => {
    signal?.addEventListener('abort', () => resolve(null), { once: true });
    void work.then(resolve);
  });
}
