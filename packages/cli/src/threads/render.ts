/**
 * A followed thread as text: lines that stay, in the order in which things end, and below them what changes: tools that
 * work, the reply as it grows, a question, and the state. Nothing here reads or writes.
 *
 *   message            stays; its draft was live until then
 *   tool               live while it works, stays when it has ended
 *   approval           pending: what is asked stays, the question is live; answered: the answer stays
 *   run                live while it works, stays when it has ended
 *   thread             live: its status
 */
import type { Approval, Draft, FollowItem, Message, Run, Thread, Tool } from '@headrace/client';
import { oneLine, shown } from '../terminal/escape.ts';
import type { Paint } from '../terminal/style.ts';
import { cut } from '../terminal/table.ts';
import { lasting } from '../terminal/times.ts';
import { lastRows, rowsOf } from '../terminal/wrap.ts';
import { isEnded, runEnd } from './run-end.ts';

interface Look {
  paint: Paint;
  /** Shows the output of tools whole. */
  isVerbose: boolean;
  /** The command applies the change itself. */
  isApplied?: boolean;
}
export interface LiveState {
  columns: number;
  rows: number;
  nowMs: number;
  /** Whether keys answer the question. */
  canAnswer: boolean;
  /** What Ctrl-C has begun, or that the service is away. */
  notice: string | undefined;
}

const FOLDED_LINES = 4;
const LIVE_TOOLS = 4;
const QUESTION_LINES = 60;

export class Transcript {
  readonly #paint: Paint;
  readonly #isVerbose: boolean;
  readonly #isApplied: boolean;
  /** Of the runs that work, by id. */
  readonly #tools = new Map<string, Tool>();
  readonly #questions = new Map<string, Approval>();
  #draft: Draft | undefined;
  #run: Run | undefined;
  #thread: Thread | undefined;

  constructor({ paint, isVerbose, isApplied = false }: Look) {
    this.#paint = paint;
    this.#isVerbose = isVerbose;
    this.#isApplied = isApplied;
  }

  /** The oldest that waits for an answer. */
  get question(): Approval | undefined {
    return this.#questions.values().next().value;
  }

  /** Returns the lines that stay. */
  take(item: FollowItem): string[] {
    if (item.kind === 'message') return this.#message(item.message);
    if (item.kind === 'tool') return this.#tool(item.tool);
    if (item.kind === 'approval') return this.#approval(item.approval);
    if (item.kind === 'run') return this.#ofRun(item.run);
    if (item.kind === 'thread') this.#thread = item.thread;
    else if (item.kind === 'draft') this.#draft = item.draft;
    else if (this.#draft?.messageId === item.messageId) this.#draft = undefined;
    return [];
  }

  /** At most `rows - 1` lines of at most `columns`. */
  live({ columns, rows, nowMs, canAnswer, notice }: LiveState): string[] {
    const paint = this.#paint;
    const below = [
      ...this.#questionLines(canAnswer, columns),
      ...this.#stateLines(nowMs, columns),
      ...(notice === undefined ? [] : rowsOf(notice, columns).map((row) => paint('yellow', row))),
    ].slice(-(rows - 1));
    const tools = [...this.#tools.values()]
      .slice(-LIVE_TOOLS)
      .map((tool) => paint('cyan', cut(`• ${toolTitle(tool)}${timeOf(tool, nowMs)}`, columns)))
      .slice(-Math.max(0, rows - 1 - below.length));
    const left = rows - 1 - below.length - tools.length;
    const draft = this.#draft ? lastRows(shown(this.#draft.content), { columns, rows: left }) : [];
    return [...draft, ...tools, ...below];
  }

  #message({ id, role, content, attachments }: Message): string[] {
    if (this.#draft?.messageId === id) this.#draft = undefined;
    const lines = shown(content).replace(/\n+$/, '').split('\n');
    if (role === 'assistant') return [...lines, ''];
    const files = attachments.map(({ mediaType }) => `[${oneLine(mediaType)}]`);
    const mark = role === 'user' ? '› ' : '· ';
    return [
      ...[...lines, ...files].map((line, at) => this.#paint('bold', `${at === 0 ? mark : '  '}${line}`)),
      '',
    ];
  }

  #tool(tool: Tool): string[] {
    if (!isOver(tool)) {
      this.#tools.set(tool.id, tool);
      return [];
    }
    this.#tools.delete(tool.id);
    const [mark, color] = MARKS[tool.status];
    const title = this.#isVerbose ? wholeTitle(tool) : cut(toolTitle(tool), TITLE_COLUMNS);
    return [
      ...`${this.#paint(color, mark)} ${title}${this.#paint('dim', timeOf(tool, 0))}`.split('\n'),
      ...this.#output(tool),
      '',
    ];
  }

  #output({ output, truncated }: Tool): string[] {
    const text = shown(output ?? '').replace(/\n+$/, '');
    const lines = text === '' ? [] : text.split('\n');
    const isFolded = !this.#isVerbose && lines.length > FOLDED_LINES + 1;
    const seen = isFolded ? lines.slice(-FOLDED_LINES) : lines;
    const folded = isFolded ? [`… ${lines.length - FOLDED_LINES} lines before; --verbose shows them`] : [];
    const lost = truncated ? ['… the service has not kept all of it'] : [];
    return [...folded, ...seen, ...lost].map((line) => this.#paint('dim', `  │ ${line}`));
  }

  #approval(approval: Approval): string[] {
    const wasAsked = this.#questions.has(approval.id);
    if (approval.status === 'pending') {
      this.#questions.set(approval.id, approval);
      return wasAsked ? [] : this.#asked(approval);
    }
    this.#questions.delete(approval.id);
    const [mark, color] =
      approval.status === 'approved' ? (['✓', 'green'] as const) : (['✗', 'red'] as const);
    return [`${this.#paint(color, `${mark} ${approval.status}`)}: ${oneLine(approval.title)}`, ''];
  }

  /** All of what is to be allowed: a title may be its first line. */
  #asked({ toolId, title }: Approval): string[] {
    const tool = this.#tools.get(toolId);
    const lines = shown(commandOf(tool?.input) ?? title)
      .replace(/\n+$/, '')
      .split('\n');
    const more = lines.length - QUESTION_LINES;
    return [
      this.#paint('yellow', `? The agent asks whether it may use ${oneLine(tool?.name ?? 'a tool')}:`),
      ...lines.slice(0, QUESTION_LINES).map((line) => `  │ ${line}`),
      ...(more > 0
        ? [this.#paint('red', `  │ … and ${more} more lines, which headrace approvals --json shows`)]
        : []),
    ];
  }

  #questionLines(canAnswer: boolean, columns: number): string[] {
    const { question } = this;
    if (!question) return [];
    const text = canAnswer
      ? 'May it? y yes, n no, a always in this thread'
      : `→ headrace approve ${question.id}, or headrace deny ${question.id}`;
    return rowsOf(text, columns).map((row) => this.#paint('yellow', row));
  }

  #ofRun(run: Run): string[] {
    if (!isEnded(run)) {
      this.#run = run;
      return [];
    }
    if (this.#run?.id === run.id) this.#run = undefined;
    for (const [id, { runId }] of this.#tools) if (runId === run.id) this.#tools.delete(id);
    for (const [id, { runId }] of this.#questions) if (runId === run.id) this.#questions.delete(id);
    if (this.#draft?.runId === run.id) this.#draft = undefined;
    return [...runEnd(run, this.#paint, this.#isApplied), ''];
  }

  #stateLines(nowMs: number, columns: number): string[] {
    const status = this.#run?.status ?? this.#thread?.status;
    if (status === undefined || status === 'ready' || status === 'failed' || status === 'archived') return [];
    const phase = this.#thread?.initializationPhase;
    const blockedOn = this.#thread?.blockedOn ?? [];
    const what =
      status === 'queued' && phase
        ? phase.replaceAll('_', ' ')
        : status === 'blocked' && blockedOn.length > 0
          ? `blocked by ${blockedOn.join(', ')}`
          : status;
    const since = this.#run?.startedAt;
    const time = since ? `  ${lasting(Math.max(0, nowMs - Date.parse(since)))}` : '';
    const text = cut(`${what}${time}  ·  Ctrl-C leaves, the work goes on`, columns);
    return [this.#paint('dim', text)];
  }
}

const TITLE_COLUMNS = 100;

const MARKS = {
  completed: ['✓', 'green'],
  failed: ['✗', 'red'],
  cancelled: ['-', 'gray'],
} as const;

const isOver = (tool: Tool): tool is Tool & { status: keyof typeof MARKS } => tool.status in MARKS;

const toolTitle = ({ name, title }: Tool): string => oneLine(title ? `${name}  ${title}` : name);

const wholeTitle = (tool: Tool): string => {
  const command = commandOf(tool.input);
  return command === undefined
    ? toolTitle(tool)
    : `${oneLine(tool.name)}  ${shown(command).replace(/\n+$/, '')}`;
};

/** Until now for a tool that works. */
function timeOf({ startedAt, finishedAt }: Tool, nowMs: number): string {
  if (startedAt === null) return '';
  const end = finishedAt === null ? nowMs : Date.parse(finishedAt);
  return `  ${lasting(Math.max(0, end - Date.parse(startedAt)))}`;
}

/** A command as text, any other input as JSON. */
function commandOf(input: unknown): string | undefined {
  if (typeof input !== 'object' || input === null || Object.keys(input).length === 0) return undefined;
  const { command } = input as { command?: unknown };
  return typeof command === 'string' ? command : JSON.stringify(input, null, 2);
}
