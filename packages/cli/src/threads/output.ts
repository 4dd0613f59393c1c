/** Where followed items go: a person's terminal, a pipe, JSON lines, or nowhere, for one document at the end. */
import type { Approval, FollowItem } from '@headrace/client';
import type { Cli } from '../core/cli.ts';
import { oneLine } from '../terminal/escape.ts';
import { Screen } from '../terminal/screen.ts';
import { Transcript } from './render.ts';
import { isEnded, runEnd } from './run-end.ts';

export interface Output {
  take(item: FollowItem): void;
  /** What keys have begun, or that the service is away; undefined ends it. */
  notice(about: 'keys' | 'away', text: string | undefined): void;
  close(): void;
  /** Whether a person sees questions, and keys answer them. */
  readonly canAnswer: boolean;
  readonly question: Approval | undefined;
}

interface Look {
  isVerbose: boolean;
  isApplied?: boolean;
}

export function outputOf(cli: Cli, look: Look): Output {
  if (cli.isTerminal && cli.io.env.TERM !== 'dumb') return new TerminalOutput(cli, look);
  return new PlainOutput(cli, look);
}

/** Redraws at most so often, however fast a reply grows. */
const PAUSE_MS = 40;
/** For the time that something has taken. */
const TICK_MS = 1_000;

class TerminalOutput implements Output {
  readonly canAnswer: boolean;
  readonly #cli: Cli;
  readonly #screen: Screen;
  readonly #transcript: Transcript;
  readonly #notices = new Map<string, string>();
  readonly #tick: NodeJS.Timeout;
  readonly #redraw = () => this.#draw();
  #waiting: string[] = [];
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(cli: Cli, look: Look) {
    this.#cli = cli;
    this.canAnswer = cli.canAsk;
    this.#screen = new Screen(cli.io.stdout);
    this.#transcript = new Transcript({ paint: cli.paint, ...look });
    this.#tick = setInterval(this.#redraw, TICK_MS);
    cli.io.stdout.on('resize', this.#redraw);
  }

  get question(): Approval | undefined {
    return this.#transcript.question;
  }

  take(item: FollowItem): void {
    this.#waiting.push(...this.#transcript.take(item));
    this.#timer ??= setTimeout(this.#redraw, PAUSE_MS);
  }

  notice(about: string, text: string | undefined): void {
    if (text === undefined) this.#notices.delete(about);
    else this.#notices.set(about, text);
    this.#draw();
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearInterval(this.#tick);
    clearTimeout(this.#timer);
    this.#cli.io.stdout.off('resize', this.#redraw);
    this.#screen.draw(this.#waiting.splice(0), []);
  }

  #draw(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const notice = this.#notices.size === 0 ? undefined : [...this.#notices.values()].join(' ');
    const look = { ...this.#screen.size, nowMs: Date.now(), canAnswer: this.canAnswer, notice };
    this.#screen.draw(this.#waiting.splice(0), this.#transcript.live(look));
  }
}

/** Without a terminal: messages on stdout, everything else on stderr. */
class PlainOutput implements Output {
  readonly canAnswer = false;
  readonly question = undefined;
  readonly #cli: Cli;
  readonly #look: Look;

  constructor(cli: Cli, look: Look) {
    this.#cli = cli;
    this.#look = look;
  }

  take(item: FollowItem): void {
    const cli = this.#cli;
    if (cli.globals.jsonl) return cli.printLine(item);
    if (item.kind === 'message' && !cli.isJson) this.#message(item.message);
    else if (item.kind === 'approval' && item.approval.status === 'pending') this.#question(item.approval);
    else if (item.kind === 'tool' && this.#look.isVerbose && item.tool.finishedAt !== null)
      cli.say(oneLine(`${item.tool.status}: ${item.tool.name} ${item.tool.title ?? ''}`));
    else if (item.kind === 'run' && isEnded(item.run) && !cli.isJson)
      cli.say(runEnd(item.run, cli.paintTalk, this.#look.isApplied).join('\n'));
  }

  notice(_: string, text: string | undefined): void {
    this.#cli.say(text ?? 'The service is back.');
  }

  close(): void {
    // Nothing is open.
  }

  #message({ role, content }: { role: string; content: string }): void {
    const text = content.replace(/\n*$/, '\n');
    this.#cli.printRaw(role === 'assistant' ? text : text.replace(/^(?=.)/gm, '> '));
  }

  #question({ id, title }: Approval): void {
    this.#cli.say(`The agent asks: ${oneLine(title)}\n→ headrace approve ${id}, or headrace deny ${id}`);
  }
}
