/** One command after another in the thread's workspace. There is no terminal behind it: no input, no screen. */
import { useState } from 'react';
import { client } from '../../../api/client.ts';
import { useMay } from '../../../api/session.ts';
import { useOffReason, useWrite } from '../../../api/write.ts';
import { Plain } from '../../../code/plain.tsx';
import { AsCode, quoted } from '../../../ui/as-code.tsx';
import { Button } from '../../../ui/button.tsx';
import { FaultLine } from '../../../ui/fault-line.tsx';
import { duration } from '../../../ui/values.tsx';
import { callOf, pathOf, useThread } from '../context.ts';
import { Output } from '../output.tsx';
import { endOf, MOST, remember, useHistory } from './terminal-history.ts';
import type { Ran } from './terminal-history.ts';

const TIMEOUT_SECONDS = 600;
const MARGIN_MS = 30_000;

export function TerminalPanel() {
  const place = useThread();
  const { appId, threadId, thread } = place;
  const ran = useHistory(threadId);
  const [command, setCommand] = useState('');
  const [at, setAt] = useState(ran.length);
  const offline = useOffReason();
  const mayRun = useMay('thread:update');
  const body = { command, timeoutSeconds: TIMEOUT_SECONDS };
  const exec = useWrite({
    intent: `exec ${threadId} ${ran.length}`,
    call: (line: string, options) =>
      client.execs.create(
        appId,
        threadId,
        { command: line, timeoutSeconds: TIMEOUT_SECONDS },
        {
          ...options,
          timeoutMs: TIMEOUT_SECONDS * 1000 + MARGIN_MS,
          attemptTimeoutMs: TIMEOUT_SECONDS * 1000 + MARGIN_MS,
        },
      ),
    onDone: (result, line) => {
      remember(threadId, { command: line, result });
      setAt(Math.min(ran.length + 1, MOST));
      // A refused command stays, and so does what was typed meanwhile.
      setCommand((now) => (now === line ? '' : now));
    },
  });
  const offBecause = exec.isSending
    ? 'A command runs.'
    : (!mayRun && 'Your role may not run commands.') || offline || busyReason(thread.status);
  const run = () => {
    if (offBecause || command.trim() === '') return;
    exec.send(command);
  };
  const recall = (step: 1 | -1) => {
    const next = Math.min(ran.length, Math.max(0, at + step));
    if (next === at) return;
    setAt(next);
    setCommand(ran[next]?.command ?? '');
  };
  return (
    <div className="flex flex-1 flex-col">
      <div className="flex flex-1 flex-col gap-3 px-4 py-3" role="log" aria-label="Commands and their output">
        {ran.length === 0 && !exec.isSending && (
          <p className="text-ink-2">
            Commands run on the thread’s files, under the network rules of the settings. Changed files become
            a new source.
          </p>
        )}
        {ran.map((one, index) => (
          <Entry key={index} {...one} />
        ))}
        {exec.isSending && <p className="text-12 text-water">The command runs.</p>}
        <FaultLine fault={exec.fault} />
      </div>
      <form
        aria-label="Run a command"
        className="sticky bottom-0 flex flex-col gap-1 border-t border-strong bg-surface px-4 py-2"
        onSubmit={(event) => {
          event.preventDefault();
          run();
        }}
      >
        <div className="flex items-center gap-1">
          <input
            aria-label="Command"
            placeholder="npm test"
            autoComplete="off"
            autoCapitalize="off"
            spellCheck={false}
            maxLength={10_000}
            value={command}
            onChange={(event) => setCommand(event.target.value)}
            onKeyDown={(event) => {
              if (event.key !== 'ArrowUp' && event.key !== 'ArrowDown') return;
              event.preventDefault();
              recall(event.key === 'ArrowUp' ? -1 : 1);
            }}
            className="input font-mono text-mono"
          />
          <AsCode
            method="POST"
            path={pathOf(place, '/exec')}
            body={body}
            ts={callOf('execs.create', place, body)}
            cli={`headrace exec ${threadId} -- ${quoted(command)}`}
          />
          <Button type="submit" kind="primary" offBecause={offBecause}>
            Run
          </Button>
        </div>
        {offBecause && <p className="text-12 text-ink-3">{offBecause}</p>}
      </form>
    </div>
  );
}

/** Only an idle thread takes commands. */
function busyReason(status: string): string | null {
  if (status === 'running' || status === 'waiting')
    return 'A run is active: commands can be run when it has ended.';
  if (status === 'queued') return 'A run is queued: commands can be run when it has ended.';
  if (status === 'blocked') return 'An apply or a build is under way: commands can be run when it has ended.';
  if (status === 'archived') return 'The thread is archived.';
  return null;
}

function Entry({ command, result }: Ran) {
  const isFine = result.exitCode === 0;
  return (
    <div className="flex flex-col gap-1">
      <p className="long font-mono text-mono">
        <span className="text-ink-3">$ </span>
        <Plain text={command} />
      </p>
      {result.stdout !== '' && <Output text={result.stdout} label="Output" />}
      {result.stderr !== '' && <Output text={result.stderr} label="Errors" />}
      <p className="flex flex-wrap gap-x-3 text-12 text-ink-3">
        <span className={isFine ? '' : 'text-fail'}>{endOf(result)}</span>
        <span>{duration(result.durationMs)}</span>
        {result.truncated && <span>only a part of the output was kept</span>}
        {result.sourceId !== null && <span>files changed: a new source</span>}
      </p>
    </div>
  );
}
