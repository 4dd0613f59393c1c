/**
 * Best of N: the same source in N threads, each with its own prompt or model. Each result is built and compared with
 * the source; the best one is applied, the others are archived.
 */
import { isCode } from '@headrace/client';

/**
 * `candidates`: `{ prompt, modelId? }`. `build`: `{ command, outputDirectory }`. `budgetMicros`: in millionths of a USD.
 * No thread may spend more than its share of what is left, and none starts when nothing is left. Returns each candidate
 * with its outcome, best first.
 */
export async function bestOf(headrace, { appId, candidates, build, budgetMicros = 5_000_000, parallel = 2, onStep = () => {} }) {
  const results = candidates.map((candidate, i) => ({ ...candidate, name: `#${i + 1} ${candidate.modelId ?? ''}`.trim(), state: 'not started', costMicros: 0 }));
  const waiting = [...results];
  let left = budgetMicros;
  const work = async () => {
    for (let result = waiting.shift(); result; result = waiting.shift()) {
      const share = Math.floor(left / (waiting.length + 1));
      left -= share;
      if (share > 0) await attempt(headrace, appId, result, { build, share }).catch((error) => fail(result, error));
      else result.state = 'over budget';
      left += share - result.costMicros;
      onStep(result);
    }
  };
  await Promise.all(Array.from({ length: parallel }, work));
  const ranked = results.toSorted(byWorth);
  await applyBest(headrace, appId, ranked, onStep);
  return ranked;
}

/** One candidate: run, difference, build. Its cost is known when its run has ended. */
async function attempt(headrace, appId, result, { build, share }) {
  const { prompt, modelId } = result;
  result.state = 'running';
  // The thread's own limit stops a run that would spend more.
  const { thread } = await headrace.threads.create(appId, { title: result.name, modelId, spendLimitMicros: share });
  result.threadId = thread.id;
  const run = await headrace.messages.send(appId, thread.id, { content: prompt }).done();
  result.costMicros = run.usage.costMicros;
  if (run.status !== 'completed') throw new Error(run.error?.message ?? `the run is ${run.status}`);
  result.sourceId = run.resultSourceId;
  const { files } = await headrace.sources.diff(appId, run.resultSourceId, { base: thread.sourceId, patches: false });
  result.files = files.length;
  result.lines = files.reduce((sum, { additions, deletions }) => sum + additions + deletions, 0);
  if (!files.length) throw new Error('nothing was changed');
  const { status, error, id } = await headrace.builds.create(appId, thread.id, build).done();
  result.buildId = id;
  if (status !== 'ready') throw new Error(`the build failed: ${error?.message}`);
  result.state = 'built';
}

function fail(result, error) {
  result.state = 'failed';
  result.reason = error.message;
}

/** Results that build come first, then the smaller change, then the cheaper one. */
function byWorth(a, b) {
  const rank = ({ state }) => (state === 'built' ? 0 : 1);
  return rank(a) - rank(b) || (a.lines ?? Infinity) - (b.lines ?? Infinity) || a.costMicros - b.costMicros;
}

/** Applies the best result that merges with the current head, and archives the others. */
async function applyBest(headrace, appId, ranked, onStep) {
  let best = null;
  for (const result of ranked) {
    if (!best && result.state === 'built' && (await apply(headrace, appId, result))) best = result;
    else if (result.threadId) await headrace.threads.update(appId, result.threadId, { archived: true });
    onStep(result);
  }
}

async function apply(headrace, appId, result) {
  try {
    const decision = { expectedSourceId: result.sourceId, conflictResolution: 'manual' };
    const { status, conflicts, error } = await headrace.applies.create(appId, result.threadId, decision).done();
    result.state = status;
    if (status !== 'applied') result.reason = error ?? `conflicts with the head: ${conflicts.join(', ')}`;
  } catch (error) {
    // Another process works on this thread: the next best takes its place.
    if (!isCode(error, 'thread_busy') && !isCode(error, 'stale_source')) throw error;
    fail(result, error);
  }
  return result.state === 'applied';
}
