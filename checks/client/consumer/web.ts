/** What a consumer may write, and what its compiler refuses. Compiled without Node's types. */
import { createClient, HeadraceError, isCode, UncertainError } from '@headrace/client';
import type { App, Apply, Code, Page, Run, Thread } from '@headrace/client';
import { verifyWebhook } from '@headrace/client/webhooks';

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const is = <T extends true>(value?: T): T | undefined => value;

const headrace = createClient({ baseUrl: 'https://headrace.test', key: 'hrk_x' });
createClient({ session: true });
// @ts-expect-error -- a URL is not a number
createClient({ baseUrl: 1, key: 'hrk_x' });

export async function calls(): Promise<void> {
  const app = await headrace.apps.create({ name: 'Shop', externalId: 'u_42', metadata: { a: 'b' } });
  is<Equal<typeof app, App>>();
  // @ts-expect-error -- an app has a name
  await headrace.apps.create({ externalId: 'u_42' });
  // @ts-expect-error -- no such member
  await headrace.apps.create({ name: 'Shop', colour: 'red' });
  // @ts-expect-error -- metadata are strings
  await headrace.apps.create({ name: 'Shop', metadata: { a: 1 } });
  // @ts-expect-error -- an id is a string
  await headrace.apps.get(7);
  // @ts-expect-error -- an apply names the source
  headrace.applies.create(app.id, 'thread', {});
  // @ts-expect-error -- not one of the statuses
  headrace.threads.list(app.id, { status: 'asleep' });

  const { thread } = await headrace.threads.create(app.id, { message: { content: 'Hello' } });
  is<Equal<typeof thread, Thread>>();
  const apply = await headrace.applies
    .create(app.id, thread.id, { expectedSourceId: 's' })
    .done({ timeoutMs: 1 });
  is<Equal<typeof apply, Apply>>();
  const run = await headrace.messages.send(app.id, thread.id, { content: 'More' }).done();
  is<Equal<typeof run, Run>>();
  // @ts-expect-error -- an app is not awaitable work
  headrace.apps.get(app.id).done();
  const bytes: Uint8Array = await headrace.builds.artifact(app.id, 'build');
  const response: Response = await headrace.builds.artifact(app.id, 'build').asResponse();
  const info = await headrace.apps.get(app.id).withResponse();
  const requestId: string | null = info.response.requestId;
  void [bytes, response, requestId];
}

export async function lists(): Promise<void> {
  const page = await headrace.apps.list({ limit: 10 });
  is<Equal<typeof page, Page<App>>>();
  for await (const app of headrace.apps.list()) is<Equal<typeof app, App>>();
}

export async function bound(): Promise<void> {
  const app = headrace.app('app');
  is<Equal<Awaited<ReturnType<typeof app.get>>, App>>();
  const { thread } = await app.threads.create({});
  await app.messages.send(thread.id, { content: 'Hello' });
  await headrace.thread(thread.id).messages.send({ content: 'Hello' });
  const stored = await headrace.operation('key', (client) => client.apps.create({ name: 'Shop' }));
  is<Equal<typeof stored, App>>();
}

export const attachment: Promise<Uint8Array> = headrace.messages.attachment('app', 'thread', 'message', 0);

export async function follow(): Promise<string> {
  for await (const item of headrace.events.stream({ appId: 'app' })) {
    if (item.kind === 'reset') return item.cursor;
    if (item.kind === 'event') is<Equal<typeof item.event.id, string>>();
  }
  for await (const item of headrace.threads.follow('app', 'thread'))
    if (item.kind === 'run') return item.run.id;
  for await (const event of headrace.events.replay({ direct: true })) {
    is<Equal<typeof event.projectId, string | null>>();
    // @ts-expect-error -- only an app's events name one
    return event.appId;
  }
  return '';
}

export function errors(error: unknown): string {
  if (isCode(error, 'version_conflict')) return String(error.details.current.version);
  if (isCode(error, 'thread_busy'))
    is<Equal<typeof error.details.reason, 'run' | 'exec' | 'apply' | 'build'>>();
  // @ts-expect-error -- no such code
  if (isCode(error, 'no_such_code')) return '';
  if (error instanceof UncertainError) return error.idempotencyKey;
  if (error instanceof HeadraceError) is<Equal<typeof error.code, Code>>();
  return '';
}

export async function receive(request: Request): Promise<string> {
  const event = await verifyWebhook(['whsec_a', 'whsec_b'], request.headers, await request.text(), {
    toleranceSeconds: 60,
  });
  return event.id;
}
