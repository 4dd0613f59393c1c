'use client';

import { useCallback, useEffect, useState } from 'react';

/** One key for each action of the user: a retry has no second effect. */
const post = async (action, body, key = crypto.randomUUID()) => answerOf(await fetch(`/api/${action}`, { method: 'POST', headers: { 'content-type': 'application/json', 'idempotency-key': key }, body: JSON.stringify(body) }));

async function answerOf(response) {
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.message);
  return answer;
}

function requireApplied({ status, conflicts, error }) {
  if (status !== 'applied') throw new Error(error ?? `In conflict with the current version: ${conflicts.join(', ')}`);
}

/** The items of a thread, as they come. */
async function* follow(threadId, signal) {
  const response = await fetch(`/api/follow?thread=${threadId}`, { signal });
  if (!response.ok) throw new Error((await response.json()).message);
  let text = '';
  for (const reader = response.body.pipeThrough(new TextDecoderStream()).getReader(); ;) {
    const { done, value } = await reader.read();
    if (done) return;
    const lines = (text + value).split('\n');
    text = lines.pop();
    for (const line of lines) yield JSON.parse(line);
  }
}

/** An item replaces the earlier one with the same id; a message and its draft share an id. */
function withItem(shown, item) {
  if (item.kind === 'draft.removed') return shown.filter(({ id, kind }) => id !== item.messageId || kind !== 'draft');
  const id = item.kind === 'draft' ? item.draft.messageId : item[item.kind].id;
  const next = { ...item, id };
  return shown.some((one) => one.id === id) ? shown.map((one) => (one.id === id ? next : one)) : [...shown, next];
}

export function Builder({ user }) {
  const [state, setState] = useState(null);
  const [items, setItems] = useState([]);
  const [url, setUrl] = useState(null);
  const [note, setNote] = useState(null);
  const [isBusy, setBusy] = useState(true);
  const load = useCallback(async () => setState(await answerOf(await fetch('/api/state'))), []);

  /** Shows errors of any action. */
  const act = useCallback(async (work) => {
    setBusy(true);
    setNote(null);
    try {
      await work();
      await load();
    } catch (error) {
      setNote(error.message);
    } finally {
      setBusy(false);
    }
  }, [load]);
  useEffect(() => void act(async () => {}), [act]);

  const draft = state?.draft;
  const threadId = draft?.id;
  useEffect(() => {
    if (!threadId) return setItems([]);
    const stop = new AbortController();
    (async () => {
      for await (const item of follow(threadId, stop.signal)) setItems((shown) => withItem(shown, item));
      await load();
    })().catch((error) => stop.signal.aborted || setNote(error.message));
    return () => stop.abort();
    // Again after each prompt: a thread without work has nothing to follow.
  }, [threadId, draft?.latestRunId, load]);

  const send = (event) => {
    event.preventDefault();
    const form = event.currentTarget;
    void act(async () => {
      await post('prompt', { content: new FormData(form).get('content') });
      form.reset();
    });
  };
  const apply = () => act(async () => {
    requireApplied(await post('apply', { threadId, expectedSourceId: draft.latestSourceId }));
    const build = await post('build', { threadId });
    setNote(build.status === 'ready' ? `Built: ${build.fileCount} files.` : build.error.message);
  });
  const preview = () => act(async () => setUrl((await post('preview', { threadId })).url));
  const undo = (sourceId) => act(async () => requireApplied(await post('undo', { sourceId })));

  return (
    <main>
      <section aria-busy={isBusy}>
        <p className="user">{user}</p>
        <div aria-live="polite">{items.map((item) => <Item key={item.id} item={item} />)}</div>
        <form onSubmit={send}>
          <textarea name="content" required aria-label="What should change?" placeholder="What should change?" />
          <button disabled={isBusy}>Send</button>
        </form>
        <button disabled={isBusy || !draft} onClick={preview}>Preview</button>
        <button disabled={isBusy || draft?.status !== 'ready'} onClick={apply}>Apply and build</button>
        {note && <p role="alert" className="error">{note}</p>}
        <h2>Versions</h2>
        <ol>
          {state?.heads.map(({ revision, sourceId, updatedAt }) => (
            <li key={revision}>
              {new Date(updatedAt).toLocaleString()} <button disabled={isBusy} onClick={() => undo(sourceId)}>Back to this</button>
            </li>
          ))}
        </ol>
        <h2>Activity</h2>
        <ul>{state?.activity.map(({ type, at }) => <li key={`${type}${at}`}>{type} {new Date(at).toLocaleTimeString()}</li>)}</ul>
      </section>
      {url ? <iframe title="Preview" src={url} sandbox="allow-scripts allow-forms allow-same-origin" /> : <p>No preview yet.</p>}
    </main>
  );
}

function Item({ item }) {
  if (item.kind === 'message') return <pre>{item.message.content}</pre>;
  if (item.kind === 'draft') return <pre aria-busy="true">{item.draft.content}</pre>;
  if (item.kind === 'tool') return <p>{item.tool.title}: {item.tool.status}</p>;
  if (item.kind === 'run' && item.run.error) return <p className="error">{item.run.error.message}</p>;
  return null;
}
