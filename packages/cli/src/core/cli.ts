/** What a command works with: the client, the output, questions, and the state of the folder and the user. */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { createClient } from '@headrace/client';
import type { Client, Page } from '@headrace/client';
import { isRecord, readJsonFile, stateFolder, writePrivateJson } from '../config/files.ts';
import { targetOf } from '../config/target.ts';
import type { Credential, Target } from '../config/target.ts';
import { detailsOf } from '../terminal/details.ts';
import type { Detail } from '../terminal/details.ts';
import { painted, shown } from '../terminal/escape.ts';
import { hasColor, paintFor } from '../terminal/style.ts';
import type { Paint } from '../terminal/style.ts';
import { tableOf } from '../terminal/table.ts';
import type { Column } from '../terminal/table.ts';
import { ago } from '../terminal/times.ts';
import type { Globals } from './options.ts';
import { EXIT } from './exit.ts';
import { Fault, interrupted, usage } from './fault.ts';
import type { Io } from './io.ts';
import { idOf } from './names.ts';
import { VERSION } from './version.ts';
import type { Write } from './writes.ts';

interface Listing<T> {
  /** The member of the API's answer, for example `apps`. */
  member: string;
  page(options: { limit: number; cursor?: string; signal: AbortSignal }): PromiseLike<Page<T>>;
  columns: readonly Column<T>[];
  /** What an empty list says, with the command that makes one. */
  empty: string;
  /** What restricts the list: with a value here, an empty one says that nothing matches. */
  filters?: object;
  limit: number | undefined;
}

const PAGE = 200;
const SHOWN_ITEMS = 30;
const NARROWEST = 40;

export class Cli {
  readonly io: Io;
  readonly globals: Globals;
  /** Aborts at the first Ctrl-C, unless the command takes them itself. */
  readonly signal: AbortSignal;
  /** On stdout and stderr. */
  readonly paint: Paint;
  readonly paintTalk: Paint;
  /** Undefined for a command that writes nothing. */
  readonly #beginWrite: (() => Write) | undefined;
  #write: Write | undefined;
  readonly #interrupt = new AbortController();
  readonly #stopListening: () => void;
  /** What `@last` has meant: the command line does not say it. */
  readonly #lastUsed = new Set<string>();
  #takeInterrupt: (() => void) | undefined;
  #target: Target | undefined;
  #client: Client | undefined;

  constructor(io: Io, globals: Globals, beginWrite?: () => Write) {
    this.io = io;
    this.globals = globals;
    this.#beginWrite = beginWrite;
    this.signal = this.#interrupt.signal;
    this.paint = paintFor(hasColor(io, io.stdout, globals['no-color']));
    this.paintTalk = paintFor(hasColor(io, io.stderr, globals['no-color']));
    this.#stopListening = io.onInterrupt(() => {
      if (this.#takeInterrupt) this.#takeInterrupt();
      else this.#interrupt.abort(interrupted());
    });
  }

  close(): void {
    this.#stopListening();
  }

  /** Until the returned function is called, Ctrl-C calls `listener` and does not end the command. */
  onInterrupt(listener: () => void): () => void {
    this.#takeInterrupt = listener;
    return () => (this.#takeInterrupt = undefined);
  }

  // The service.

  get target(): Target {
    return (this.#target ??= targetOf(this.io, this.globals));
  }

  /** Throws the Fault of someone who is not signed in. */
  get client(): Client {
    return (this.#client ??= this.#connect());
  }

  #connect(): Client {
    const { url, credential } = this.target;
    if (credential) return this.clientFor(url, credential);
    throw this.notSignedIn();
  }

  notSignedIn(): Fault {
    const { url, urlFrom } = this.target;
    const hint = this.io.env.HEADRACE_KEY
      ? `${urlFrom} names the address. HEADRACE_KEY is sent there only with HEADRACE_URL=${url}`
      : `headrace login ${url}, or set HEADRACE_KEY and HEADRACE_URL`;
    return new Fault(EXIT.denied, `You are not signed in at ${url}.`, { hint });
  }

  /** A credential is given only to the address that the user named for it. `session: null` signs in. */
  clientFor(url: string, credential: Credential | { session: null }): Client {
    const options = {
      baseUrl: url,
      headers: { 'user-agent': `headrace-cli/${VERSION}` },
      ...(this.io.fetch && { fetch: this.io.fetch }),
    };
    if ('key' in credential) return createClient({ ...options, key: credential.key });
    const { session } = credential;
    const headers = {
      ...options.headers,
      origin: new URL(url).origin,
      ...(session && { cookie: session.cookie }),
    };
    return createClient({ ...options, session: true, headers });
  }

  /**
   * The client for this command's writes: their keys outlive the process, so that the same command, run again after an
   * interruption, acts once. `about`: what the writes depend on and the command line does not say, for example text from
   * stdin. Concurrent calls of one method need keys of their own: `writeKey`.
   */
  write<T>(work: (client: Client) => Promise<T>, about = ''): Promise<T> {
    return this.client.operation(this.writeKey(about), work);
  }

  /** Throws the Fault of someone without a session: some operations are for signed-in people alone. */
  requireSession(): void {
    const { client, target } = this;
    if (client && target.credential && 'key' in target.credential)
      throw new Fault(EXIT.denied, 'This is for people: a service key cannot do it.', {
        hint: `headrace login ${this.target.url} --email ADDRESS`,
        code: 'session_required',
      });
  }

  /** A key for one write of this command. `about` distinguishes its writes, also in a later run of the same command. */
  writeKey(about: string): string {
    this.#write ??= this.#begin();
    const meant = [about, ...this.#lastUsed].join('\n');
    return `${this.#write.key}:${createHash('sha256').update(meant).digest('hex').slice(0, 16)}`;
  }

  #begin(): Write {
    if (!this.#beginWrite) throw new Error('The command is not marked as one that writes.');
    const write = this.#beginWrite();
    if (write.continues)
      this.say(
        `Continuing the same command, which was interrupted ${ago(write.continues.toISOString())}. --fresh starts a new one.`,
      );
    if (write.unkept)
      this.say(
        `No key can be kept for this command: interrupted, it may act again when it is run again. ${write.unkept}`,
      );
    return write;
  }

  /** The writes have an answer: the same command acts again from now on. */
  endWrite(): void {
    this.#write?.end();
  }

  /** The app of the command, by option, environment, link or context. */
  async appId(): Promise<string> {
    const { app } = this.target;
    if (app === undefined)
      throw usage(
        'Which app? Name it with --app, or link this folder to one.',
        'headrace link APP, or headrace apps list',
      );
    return this.appNamed(app);
  }

  appNamed(text: string): Promise<string> {
    return idOf(text, {
      what: 'app',
      prefix: 'prj_',
      listing: 'headrace apps list',
      list: (query) =>
        labelled(this.client.apps.list({ query, limit: PAGE, signal: this.signal }), ({ id, name }) => ({
          id,
          label: name,
        })),
      last: () => this.last(`app ${this.target.url}`),
    });
  }

  threadNamed(text: string, appId: string): Promise<string> {
    return idOf(text, {
      what: 'thread',
      prefix: 'thr_',
      listing: 'headrace thread list',
      list: (query) =>
        labelled(
          this.client.threads.list(appId, { query, limit: PAGE, signal: this.signal }),
          ({ id, title }) => ({ id, label: title }),
        ),
      last: () => this.last(`thread ${appId}`),
    });
  }

  // What was worked with last.

  last(kind: string): string | undefined {
    const id = this.#readLast()[kind];
    if (id !== undefined) this.#lastUsed.add(`${kind} ${id}`);
    return id;
  }

  /** `@last` is this one from now on. It can be lost without harm: a home that cannot be written fails no command. */
  remember(kind: string, id: string): void {
    try {
      writePrivateJson(this.#lastPath, { ...this.#readLast(), [kind]: id });
    } catch {}
  }

  #readLast(): Record<string, string> {
    try {
      const stored = readJsonFile(this.#lastPath);
      return isRecord(stored) ? (stored as Record<string, string>) : {};
    } catch {
      return {};
    }
  }

  get #lastPath(): string {
    return join(stateFolder(this.io), 'last.json');
  }

  // Output: data on stdout, talk on stderr.

  get isJson(): boolean {
    return this.globals.json || this.globals.jsonl;
  }

  /** A person reads stdout. */
  get isTerminal(): boolean {
    return this.io.stdout.isTTY === true && !this.isJson;
  }

  /** Columns of the terminal; null without one. */
  get width(): number | null {
    return this.isTerminal ? Math.max(NARROWEST, this.io.stdout.columns ?? 80) : null;
  }

  /**
   * Text of a command's own; strangers' text in it is escaped by the caller (`shown`, `oneLine`). What a hostile service
   * puts into ids and the like does not reach a terminal either.
   */
  print(text: string): void {
    this.io.stdout.write(`${this.isTerminal ? painted(text) : text}\n`);
  }

  /** Strangers' text, as it is when it goes to a file or a pipe. */
  printRaw(text: string): void {
    this.io.stdout.write(this.isTerminal ? shown(text) : text);
  }

  /** The same for long output: resolves when there is room for more. Bytes go as they are. */
  async printPart(part: string | Uint8Array, signal: AbortSignal = this.signal): Promise<void> {
    const text = typeof part === 'string' && this.isTerminal ? shown(part) : part;
    if (!this.io.stdout.write(text)) await once(this.io.stdout, 'drain', { signal });
  }

  /** One JSON line. */
  printLine(value: unknown): void {
    this.io.stdout.write(`${JSON.stringify(value)}\n`);
  }

  /** Progress and advice; not with --quiet. */
  say(text: string): void {
    if (!this.globals.quiet) this.io.stderr.write(`${painted(text)}\n`);
  }

  /** `document` in the API's shape with --json; else the text. */
  show(document: Record<string, unknown>, text: () => string): void {
    if (this.globals.json) this.io.stdout.write(`${JSON.stringify({ ok: true, ...document }, null, 2)}\n`);
    else if (this.globals.jsonl) this.printLine(document);
    else this.print(text());
  }

  /** Names and values, as the text of one thing. */
  details(details: readonly Detail[]): string {
    return detailsOf(details, { width: this.width, paint: this.paint });
  }

  async list<T>({ limit = SHOWN_ITEMS, ...listing }: Listing<T>): Promise<void> {
    const { member, page, columns, empty, filters = {} } = listing;
    const isFiltered = Object.values(filters).some((value) => value !== undefined);
    const items: T[] = [];
    let last: Page<T> | undefined;
    // A page that says that there is more, and has nothing, would be asked for without end.
    while (items.length < limit && (last === undefined || (last.hasMore && last.items.length > 0))) {
      const cursor = last?.nextCursor ?? undefined;
      last = await page({
        limit: Math.min(PAGE, limit - items.length),
        ...(cursor !== undefined && { cursor }),
        signal: this.signal,
      });
      if (this.globals.jsonl) for (const item of last.items) this.printLine(item);
      items.push(...last.items);
    }
    const { nextCursor = null, hasMore = false } = last ?? {};
    if (this.globals.json) this.show({ [member]: items, nextCursor, hasMore }, () => '');
    else if (items.length === 0) this.say(isFiltered ? `No ${wordsOf(member)} match.` : empty);
    else if (!this.globals.jsonl) this.print(this.table(items, columns));
    if (hasMore && !this.globals.json)
      this.say(this.paintTalk('dim', `There are more: --limit ${limit * 2} shows more.`));
  }

  table<T>(items: readonly T[], columns: readonly Column<T>[]): string {
    return tableOf(items, columns, { width: this.width, paint: this.paint });
  }

  // Questions.

  /** Whether a person can be asked. */
  get canAsk(): boolean {
    return this.io.stdin.isTTY === true && this.io.stderr.isTTY === true && !this.isJson;
  }

  /** Without a terminal, refuses. `--yes` answers yes. */
  async confirm(question: string): Promise<boolean> {
    if (this.globals.yes) return true;
    this.#requireAnswers(question, '--yes');
    return (await import('../terminal/prompt.ts')).askConfirm(this.#streams, shown(question));
  }

  /**
   * Goes on after a yes; any other answer ends the command, and nothing has changed. With --yes, `question` is not called:
   * a deletion that is repeated after an interruption gets its first answer, though what it names is gone.
   */
  async requireYes(question: () => string | Promise<string>): Promise<void> {
    if (this.globals.yes) return;
    if (!this.canAsk) throw usage('This command asks first, and there is no terminal: give --yes.');
    if (!(await this.confirm(await question())))
      throw new Fault(EXIT.failed, 'Nothing was changed.', { code: 'declined' });
  }

  async choose<T extends string>(
    question: string,
    choices: readonly import('../terminal/prompt.ts').Choice<T>[],
    flag: string,
  ): Promise<T> {
    this.#requireAnswers(question, flag);
    return (await import('../terminal/prompt.ts')).askChoice(this.#streams, question, choices);
  }

  async text(
    question: string,
    flag: string,
    validate?: (text: string) => string | undefined,
  ): Promise<string> {
    this.#requireAnswers(question, flag);
    return (await import('../terminal/prompt.ts')).askText(this.#streams, question, validate);
  }

  async secret(question: string, flag: string): Promise<string> {
    this.#requireAnswers(question, flag);
    return (await import('../terminal/prompt.ts')).askSecret(this.#streams, question);
  }

  #requireAnswers(question: string, flag: string): void {
    if (!this.canAsk) throw usage(`${question} There is no terminal to ask on: give ${flag}.`);
  }

  get #streams() {
    return { input: this.io.stdin, output: this.io.stderr };
  }
}

async function* labelled<T, R>(list: AsyncIterable<T>, map: (item: T) => R): AsyncGenerator<R> {
  for await (const item of list) yield map(item);
}

/** `pull requests` of `pullRequests`. */
const wordsOf = (member: string): string => member.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
