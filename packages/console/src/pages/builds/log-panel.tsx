/** The log of a build or a setup: follows it to its end, search, download. */
import { useNavigate, useSearch } from '@tanstack/react-router';
import { ChevronDown, ChevronUp, Download } from 'lucide-react';
import { useEffect, useMemo, useRef, useState } from 'react';
import type { KeyboardEvent } from 'react';
import { faultOf } from '../../api/faults.ts';
import { Button, IconButton, Toggle } from '../../ui/button.tsx';
import { Switch } from '../../ui/fields.tsx';
import { useKeys } from '../../ui/keys.ts';
import { Empty, Failure, Skeleton } from '../../ui/states.tsx';
import { bytes, count, plural } from '../../ui/values.tsx';
import { saveFile } from '../../ui/save-file.ts';
import { LineSearch, nextFound } from './find.ts';
import { LogLines } from './log-lines.tsx';
import type { LogHandle } from './log-lines.tsx';
import { isFinal } from './log-reader.ts';
import { useLog } from './use-log.ts';
import type { Logged } from './use-log.ts';

/** The address follows what is typed after this pause. */
const ADDRESS_MS = 300;

export function LogPanel({
  logged,
  now,
  waitsFor,
}: {
  logged: Logged;
  now: 'queued' | 'running' | 'ended';
  /** What is said while it is queued. */
  waitsFor: string;
}) {
  const what = logged.of === 'builds' ? 'build' : 'setup';
  const { state, again } = useLog(logged);
  const { log, isEnded, isTruncated, error, byteSize } = state;
  const [isFollowed, setFollowed] = useState(now !== 'ended');
  const [wrap, setWrap] = useState(true);
  const { find, setFind } = useFind();
  const [current, setCurrent] = useState(-1);
  const field = useRef<HTMLInputElement>(null);
  const lines = useRef<LogHandle>(null);
  const search = useMemo(() => new LineSearch(), []);
  const found = search.linesWith(log.lines, find);
  const at = found.indexOf(current);
  const go = (back: boolean) => {
    const next = nextFound(found, current, back);
    if (next < 0) return;
    setFollowed(false);
    setCurrent(found[next]!);
    lines.current?.goTo(found[next]!);
  };
  useKeys([
    { keys: '/', does: 'Search in the log', run: () => field.current?.select() },
    { keys: 'n', does: 'Next hit in the log', run: () => go(false) },
    { keys: 'N', does: 'Previous hit in the log', run: () => go(true) },
    { keys: 'f', does: 'Follow the log', run: () => setFollowed((on) => !on) },
  ]);
  const onKey = (event: KeyboardEvent) => {
    if (event.key === 'Enter') go(event.shiftKey);
    else if (event.key === 'Escape' && find) setFind('');
    else return;
    event.preventDefault();
  };
  const isEmpty = log.lines.length === 0;
  if (isEmpty && error && !isEnded) return <Failure error={error} retry={again} />;
  return (
    <div className="flex grow flex-col">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-2 border-b border-line px-4 py-2">
        <input
          ref={field}
          type="search"
          aria-label="Search in the log"
          placeholder="Search, /"
          value={find}
          onChange={(event) => {
            setCurrent(-1);
            setFind(event.target.value);
          }}
          onKeyDown={onKey}
          className="input max-w-56 min-w-32 flex-1"
        />
        {find && (
          <span className="flex items-center text-ink-2">
            <span role="status" className="px-1 tabular-nums">
              {found.length === 0
                ? 'nowhere'
                : at >= 0
                  ? `line ${count(at + 1)} of ${count(found.length)}`
                  : `in ${plural(found.length, 'line')}`}
            </span>
            <IconButton label="Previous hit (Shift Enter)" onPress={() => go(true)}>
              <ChevronUp size={14} />
            </IconButton>
            <IconButton label="Next hit (Enter)" onPress={() => go(false)}>
              <ChevronDown size={14} />
            </IconButton>
          </span>
        )}
        <span className="ml-auto flex flex-wrap items-center gap-3">
          {!isEnded && (
            <Switch isSelected={isFollowed} onChange={setFollowed}>
              Follow
            </Switch>
          )}
          <Toggle isSelected={wrap} onChange={setWrap}>
            Wrap
          </Toggle>
          <IconButton label="Download the log" onPress={() => save(logged.id, log.lines)}>
            <Download size={14} />
          </IconButton>
        </span>
      </div>
      {error !== null && !isEnded && (
        <p
          role="alert"
          className="flex flex-wrap items-center gap-2 border-b border-line px-4 py-1 text-wait"
        >
          <span className="long">
            {faultOf(error).title}.{!isFinal(error) && ' The log goes on when the service answers.'}
          </span>
          <Button kind="quiet" onPress={again}>
            Read it again
          </Button>
        </p>
      )}
      {isEmpty ? (
        isEnded ? (
          <Empty title="The log is empty">
            <p>The command printed nothing.</p>
          </Empty>
        ) : now === 'queued' ? (
          <Empty title={`The ${what} waits for ${waitsFor}`}>
            <p>The log begins when its command starts.</p>
          </Empty>
        ) : byteSize === 0 && now === 'running' ? (
          <Empty title="Nothing is printed yet" />
        ) : (
          <Skeleton lines={8} height={20} />
        )
      ) : (
        <div className="flex min-h-60 flex-[1_0_0px] flex-col">
          <LogLines
            label="Log"
            lines={log.lines}
            version={byteSize}
            wrap={wrap}
            find={find}
            current={current}
            isFollowed={isFollowed}
            onFollow={setFollowed}
            handle={lines}
          />
        </div>
      )}
      <p className="px-4 py-1 text-12 text-ink-3">
        <span role="status">{isEnded ? 'The end.' : ''}</span>
        {!isEnded && !isEmpty && `More follows while the ${what} runs.`}{' '}
        {!isEmpty && `${plural(log.lines.length, 'line')}, ${bytes(byteSize)}.`}
        {isTruncated && ' The service keeps the first 2 MiB of what a command prints.'}
      </p>
    </div>
  );
}

/** What is searched for: at once here, a moment later in the address. */
function useFind(): { find: string; setFind: (find: string) => void } {
  const { find: asked = '' } = useSearch({ strict: false });
  const navigate = useNavigate();
  const [find, setFind] = useState(asked);
  const sent = useRef(asked);
  useEffect(() => {
    if (asked === sent.current) return;
    sent.current = asked;
    setFind(asked);
  }, [asked]);
  useEffect(() => {
    if (find === sent.current) return;
    const timer = setTimeout(() => {
      sent.current = find;
      void navigate({ to: '.', search: (now) => ({ ...now, find: find || undefined }), replace: true });
    }, ADDRESS_MS);
    return () => clearTimeout(timer);
  }, [find, navigate]);
  return { find, setFind };
}

/** As shown: without escape codes. */
function save(id: string, lines: readonly { text: string }[]): void {
  const text = lines.map((line) => `${line.text}\n`);
  saveFile(`${id}.log`, new Blob(text, { type: 'text/plain' }));
}
