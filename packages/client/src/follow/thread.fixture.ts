/**
 * A thread on a loopback server: reads, a log, a stream. `steps` of a script happen between any two requests, as a
 * random number draws them, so that each read may be ahead of each event.
 */
import type { ServerResponse } from 'node:http';
import { frame } from '../events/feed.fixture.ts';
import { loopback, refusal, sendJson } from '../loopback.fixture.ts';
import type { Seen } from '../loopback.fixture.ts';

interface Row {
  id: string;
  [name: string]: unknown;
}

export class FakeThread {
  readonly messages: Row[] = [];
  readonly runs: Row[] = [];
  readonly tools: Row[] = [];
  readonly approvals: Row[] = [];
  thread: Row = { id: 'thr_1', status: 'ready', version: 0 };
  readonly #log: { type: string; data: object; runId: string | null; occurredAt: string }[] = [];
  readonly #streams = new Set<{ response: ServerResponse; sent: number }>();
  /** The cursors below are expired. */
  #oldest = 0;
  #now = Date.parse('2026-01-01T00:00:00.000Z');

  send(content: string): string {
    const id = `run_${this.runs.length}`;
    this.#say(content, 'user', id);
    this.runs.push({ id, status: 'queued', createdAt: this.#tick(), finishedAt: null });
    this.#publish('run.queued', { id, status: 'queued' }, id);
    this.#become('queued');
    return id;
  }

  start(runId: string): void {
    this.#setRun(runId, 'running');
    this.#become('running');
  }

  tool(runId: string, id: string, status: string): void {
    const known = this.tools.find((tool) => tool.id === id);
    if (known) known['status'] = status;
    else this.tools.push({ id, runId, status, startedAt: this.#tick() });
    this.#publish('tool.updated', { id, status }, runId);
  }

  ask(runId: string, id: string): void {
    this.approvals.push({ id, runId, status: 'pending', createdAt: this.#tick() });
    this.#publish('approval.requested', { id, sourceEventId: 'evt' }, runId);
    this.#setRun(runId, 'waiting');
    this.#become('waiting');
  }

  answer(runId: string, id: string): void {
    this.approvals.find((approval) => approval.id === id)!['status'] = 'approved';
    this.#publish('approval.resolved', { id, sourceEventId: 'evt' }, runId);
    this.start(runId);
  }

  draft(runId: string, revision: number): void {
    const draft = { threadId: 'thr_1', messageId: `msg_${runId}`, runId, revision, content: 'so far' };
    for (const { response } of this.#streams) response.write(frame('draft', draft));
  }

  reply(runId: string, status = 'completed'): void {
    this.#say(`Done by ${runId}`, 'assistant', runId, `msg_${runId}`);
    this.#setRun(runId, status);
    const isMore = this.runs.some((run) => run['status'] === 'queued');
    this.#become(isMore ? 'queued' : status === 'failed' ? 'failed' : 'ready');
  }

  cancel(runId: string): void {
    this.#setRun(runId, 'cancelled');
    this.#become('ready');
  }

  remove(): void {
    this.#publish('thread.deleted', { id: 'thr_1', status: 'ready' }, null);
  }

  rename(title: string): void {
    this.thread['title'] = title;
    this.#become(this.thread['status'] as string);
  }

  /** Ends the connections; what comes by cursors from before is refused. */
  forget(): void {
    this.#oldest = this.#log.length;
    this.cut();
  }

  cut(): void {
    for (const { response } of this.#streams) response.destroy();
    this.#streams.clear();
  }

  /** `beforeEach` is called before each request is answered. */
  serve(beforeEach: () => void = () => {}) {
    return loopback((response, request) => {
      beforeEach();
      this.#answer(response, request);
      beforeEach();
    });
  }

  #answer(response: ServerResponse, { url, headers }: Seen): void {
    const { pathname, searchParams } = new URL(url, 'http://loopback');
    const [kind, runId, under] = pathname.split('/threads/thr_1')[1]?.slice(1).split('/') ?? [];
    const send = (body: object) => sendJson(response, 200, { ok: true, ...body });
    if (pathname.endsWith('/events/head')) return send({ cursor: `c${this.#log.length}` });
    if (pathname.endsWith('/events/stream')) {
      const sent = Number(String(headers['last-event-id']).slice(1));
      if (sent < this.#oldest) return sendJson(response, 410, refusal('cursor_expired'));
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      this.#streams.add({ response, sent });
      return this.#deliver();
    }
    if (!kind) return send({ thread: this.thread });
    if (under)
      return send(
        pageOf(
          'tools',
          this.tools.filter((tool) => tool['runId'] === runId),
          searchParams,
        ),
      );
    if (kind === 'runs' && runId) return send({ run: this.runs.find((run) => run.id === runId) });
    if (kind === 'messages') return send(pageOf(kind, this.messages, searchParams));
    return send(pageOf(kind, (kind === 'runs' ? this.runs : this.approvals).toReversed(), searchParams));
  }

  #say(content: string, role: string, runId: string, id = `msg_${this.messages.length}`): void {
    const sequence = this.messages.length + 1;
    this.messages.push({ id, role, content, runId, sequence, createdAt: this.#tick() });
    this.#publish('message.persisted', { id, role }, runId);
  }

  #setRun(runId: string, status: string): void {
    const run = this.runs.find((one) => one.id === runId)!;
    run['status'] = status;
    if (['completed', 'failed', 'cancelled'].includes(status)) run['finishedAt'] = this.#tick();
    this.#publish(`run.${status}`, { id: runId, status }, runId);
  }

  #become(status: string): void {
    this.thread = { ...this.thread, status, version: (this.thread['version'] as number) + 1 };
    this.#publish('thread.updated', { id: 'thr_1', status }, null);
  }

  #tick(): string {
    this.#now += 1_000;
    return new Date(this.#now).toISOString();
  }

  #publish(type: string, data: object, runId: string | null): void {
    this.#log.push({ type, data, runId, occurredAt: this.#tick() });
    this.#deliver();
  }

  #deliver(): void {
    for (const stream of this.#streams)
      for (; stream.sent < this.#log.length; stream.sent++) {
        const n = stream.sent + 1;
        const event = { ...this.#log[stream.sent]!, id: `evt_${n}`, cursor: `c${n}`, threadId: 'thr_1' };
        stream.response.write(frame(event.type, event, event.cursor));
      }
  }
}

/** Small pages: what is read is read over several. */
function pageOf(plural: string, rows: readonly Row[], query: URLSearchParams) {
  const ordered = query.get('order') === 'desc' ? rows.toReversed() : rows;
  const start = Number(query.get('cursor') ?? 0);
  const end = start + Math.min(3, Number(query.get('limit') ?? 3));
  return { [plural]: ordered.slice(start, end), nextCursor: end < rows.length ? String(end) : null };
}
