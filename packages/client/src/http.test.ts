import { describe, expect, test } from 'vitest';
import { HeadraceError } from './errors.ts';
import { loopback, refusal, sendJson } from './loopback.fixture.ts';

const APP = { ok: true, app: { id: 'prj_1' } };

describe('a call', () => {
  test('that is refused for now is made again with the same key and body', async () => {
    await using server = await loopback((response, _, number) => {
      if (number === 1) sendJson(response, 503, refusal('unavailable'), { 'retry-after': '0' });
      else if (number === 2) sendJson(response, 429, refusal('rate_limited'), { 'retry-after': '0' });
      else sendJson(response, 201, APP);
    });
    expect(await server.client.apps.create({ name: 'Garden' })).toEqual({ id: 'prj_1' });
    expect(server.seen.map((s) => s.body)).toEqual(Array(3).fill('{"name":"Garden"}'));
    expect(new Set(server.seen.map((s) => s.headers['idempotency-key'])).size).toBe(1);
    expect(server.seen[0]!.headers['x-api-key']).toBe('hrk_test');
    await server.client.apps.create({ name: 'Garden' });
    expect(server.seen[3]!.headers['idempotency-key']).not.toBe(server.seen[0]!.headers['idempotency-key']);
  });

  test('whose connection is lost is made again, also when it is lost amid the answer', async () => {
    await using server = await loopback((response, _, number) => {
      if (number === 1) response.destroy();
      else if (number === 2)
        response.writeHead(201, { 'content-length': '500' }).write('{"ok":', () => response.destroy());
      else sendJson(response, 201, APP);
    });
    expect(await server.client.apps.create({ name: 'Garden' })).toEqual({ id: 'prj_1' });
    expect(new Set(server.seen.map((s) => s.headers['idempotency-key'])).size).toBe(1);
  });

  test('that is still under way is asked for again', async () => {
    await using server = await loopback((response, _, number) =>
      sendJson(
        response,
        number === 1 ? 409 : 201,
        number === 1 ? refusal('request_in_progress', { operationId: 'op_1' }) : APP,
      ),
    );
    await server.client.apps.create({ name: 'Garden' });
    expect(server.seen).toHaveLength(2);
  });

  test('that imports an archive sends it as it is, and returns what was left out', async () => {
    const answer = { ok: true, source: { id: 'src_1' }, warnings: [{ path: 'l', reason: 'symbolic link' }] };
    await using server = await loopback((response) => sendJson(response, 201, answer));
    const imported = await server.client.sources.import('prj_1', Buffer.from('tar'), {
      message: 'First',
      links: 'skip',
    });
    expect(imported).toEqual({ source: answer.source, warnings: answer.warnings });
    expect(server.seen[0]).toMatchObject({
      url: '/api/platform/v1/apps/prj_1/sources?message=First&links=skip',
      headers: { 'content-type': 'application/gzip' },
      body: 'tar',
    });
  });

  test('gives up after six attempts', async () => {
    await using server = await loopback((response) =>
      sendJson(response, 503, refusal('unavailable'), { 'retry-after': '0' }),
    );
    await expect(server.client.apps.get('prj_1')).rejects.toMatchObject({ status: 503, code: 'unavailable' });
    expect(server.seen).toHaveLength(6);
  });

  test('does not wait for a Retry-After of hours', async () => {
    await using server = await loopback((response) =>
      sendJson(response, 429, refusal('rate_limited'), { 'retry-after': '7200' }),
    );
    await expect(server.client.apps.get('prj_1')).rejects.toMatchObject({ status: 429 });
    expect(server.seen).toHaveLength(1);
  });

  test('that is wrong is not made again; the error tells where', async () => {
    const fields = [{ path: '/name', message: 'is too long' }];
    await using server = await loopback((response) =>
      sendJson(response, 400, refusal('invalid_request', { fields })),
    );
    const error = await server.client.apps.create({ name: 'x' }).catch((e: unknown) => e);
    expect(error).toBeInstanceOf(HeadraceError);
    expect(error).toMatchObject({
      status: 400,
      code: 'invalid_request',
      fields,
      requestId: 'req-1',
      message: 'No. (/name: is too long)',
    });
    expect(server.seen).toHaveLength(1);
  });

  test('answered by something else is an error with its status', async () => {
    await using server = await loopback((response) =>
      response.writeHead(500, { 'content-type': 'text/html' }).end('<h1>Oops</h1>'),
    );
    await expect(server.client.apps.get('prj_1')).rejects.toMatchObject({
      status: 500,
      code: 'invalid_response',
    });
  });

  test('an apply names its key in the body', async () => {
    await using server = await loopback((response) =>
      sendJson(response, 202, { ok: true, apply: { id: 'apl_1' } }),
    );
    await server.client.applies.create('prj_1', 'thr_1', { expectedSourceId: 'src_1' });
    expect(JSON.parse(server.seen[0]!.body)).toMatchObject({
      clientOperationId: server.seen[0]!.headers['idempotency-key'],
    });
  });
});

describe('a waiter', () => {
  test('lets the service wait and ends with the run', async () => {
    await using server = await loopback((response, _, number) =>
      sendJson(response, 200, {
        ok: true,
        run: { id: 'run_1', threadId: 'thr_1', status: number < 3 ? 'running' : 'failed' },
      }),
    );
    expect(await server.client.runs.get('prj_1', 'thr_1', 'run_1').done()).toMatchObject({
      status: 'failed',
    });
    const path = '/api/platform/v1/apps/prj_1/threads/thr_1/runs/run_1';
    expect(server.seen.map((s) => s.url)).toEqual([path, ...Array(2).fill(`${path}?waitSeconds=25`)]);
  });
});
