import type { Site } from './ground.ts';

/** Sets what only a session may. */
export async function putShared({ base, state }: Site, path: string, body: object): Promise<void> {
  const response = await fetch(base + path, {
    method: 'PUT',
    headers: {
      'content-type': 'application/json',
      'idempotency-key': crypto.randomUUID(),
      origin: base,
      cookie: state.cookies.map((cookie) => `${cookie.name}=${cookie.value}`).join('; '),
    },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${path} was answered ${response.status}: ${await response.text()}`);
}
