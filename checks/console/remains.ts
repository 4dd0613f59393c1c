/** What remains of a secret in a page, for `page.evaluate`. */

/** All that a page leaves in a browser: addresses, history, storage, caches, the document. */
export const KEPT = `(async () => {
  const rows = [];
  for (const { name } of await indexedDB.databases()) {
    const open = indexedDB.open(name);
    const db = await new Promise((resolve) => (open.onsuccess = () => resolve(open.result)));
    for (const store of db.objectStoreNames) {
      const all = db.transaction(store).objectStore(store).getAll();
      rows.push(await new Promise((resolve) => (all.onsuccess = () => resolve(all.result))));
    }
    db.close();
  }
  const bodies = [];
  for (const name of await caches.keys())
    for (const request of await (await caches.open(name)).keys())
      bodies.push(request.url, await (await (await caches.open(name)).match(request)).text());
  const fields = [...document.querySelectorAll('input, textarea')].map(({ value }) => value);
  return JSON.stringify([location.href, document.cookie, history.state, history.length, { ...localStorage },
    { ...sessionStorage }, rows, bodies, fields, document.documentElement.outerHTML,
    performance.getEntriesByType('resource').map(({ name }) => name)]);
})()`;

/** What the page's libraries hold: every object that can be reached from the elements of the page. */
export const HELD = `(() => {
  const seen = new Set();
  const texts = [];
  const queue = [document.getElementById('root')];
  while (queue.length > 0) {
    const at = queue.pop();
    if (typeof at === 'string') texts.push(at);
    if (at === null || (typeof at !== 'object' && typeof at !== 'function') || seen.has(at) || at === window) continue;
    seen.add(at);
    if (at instanceof Map) for (const pair of at) queue.push(...pair);
    else if (at instanceof Set) queue.push(...at);
    for (const key of Reflect.ownKeys(at)) {
      const slot = Object.getOwnPropertyDescriptor(at, key);
      if (slot && 'value' in slot) queue.push(slot.value);
    }
  }
  return { count: seen.size, text: texts.join('\\n') };
})()`;
