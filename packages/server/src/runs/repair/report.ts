/** A repair's report. It is read inside the sandbox, where no link leads out, and all of it is checked. */
import Type from 'typebox';
import type { Static } from 'typebox';
import { RunnerError } from '@headrace/runner/client';
import type { Context } from '../../context.ts';
import { clean } from '../../db/clean-text.ts';
import type { Repair, RunRow } from '../../db/schema.ts';
import { compile } from '../../http/validate.ts';
import type { Holder } from '../../runner/await-runner.ts';

const SUMMARY = 4000;
const CHECKS = 30;
const CHECK = 1000;
/** More than the longest valid report, with every character escaped. */
const MAX_BYTES = 256 * 1024;
const READ_MS = 10_000;

type Report = Static<typeof Report>;
const Report = Type.Object({
  status: Type.Union([Type.Literal('resolved'), Type.Literal('unresolved')]),
  summary: Type.String({ minLength: 1, maxLength: SUMMARY }),
  checks: Type.Array(Type.String({ maxLength: CHECK }), { maxItems: CHECKS }),
});
const faultsOf = compile(Report, 'body');

interface ReadReport {
  report: Repair['report'];
  /** Why there is none. */
  fault: string | null;
}

/** Reads a repair's report from its thread's workspace, in which no task may live. Rejects with RunnerError. */
export async function readReport(ctx: Context, job: Holder, run: RunRow, path: string): Promise<ReadReport> {
  const taskId = `${run.id}-report`;
  const parts: string[] = [];
  await ctx.runner.deleteTask(taskId, job.claimedAt);
  try {
    await ctx.runner.startTask(
      taskId,
      {
        kind: 'exec',
        workspaceId: run.thread_id,
        command: `test -f ${path} && head -c ${MAX_BYTES + 1} ${path}`,
        timeoutMs: READ_MS,
        isOfTurn: true,
      },
      job.claimedAt,
    );
    for await (const entry of ctx.runner.journal(taskId)) {
      if (entry.type === 'output' && entry.stream === 'stdout') parts.push(entry.text);
      if (entry.type === 'end' && (entry.outcome !== 'completed' || entry.exitCode !== 0))
        return { report: null, fault: `The repair left no report in ${path}.` };
    }
    return parseReport(parts.join(''), path);
  } finally {
    await ctx.runner.deleteTask(taskId, job.claimedAt).catch((error: unknown) => {
      if (!(error instanceof RunnerError)) throw error;
    });
  }
}

function parseReport(text: string, path: string): ReadReport {
  if (Buffer.byteLength(text) > MAX_BYTES) return { report: null, fault: `${path} is too long.` };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { report: null, fault: `${path} is not JSON.` };
  }
  if (faultsOf(value).length > 0)
    return {
      report: null,
      fault: `${path} has to be { status: resolved or unresolved, summary: 1 to ${SUMMARY} characters, checks: at most ${CHECKS} of at most ${CHECK} characters }.`,
    };
  const { status, summary, checks } = value as Report;
  return { report: { status, summary: clean(summary), checks: checks.map(clean) }, fault: null };
}
