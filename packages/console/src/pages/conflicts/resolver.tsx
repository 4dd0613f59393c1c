/** All conflicts of a draft: the list, one of them, and what is sent. */
import type { ApplyPreview } from '@headrace/client';
import { getRouteApi } from '@tanstack/react-router';
import { ChevronDown } from 'lucide-react';
import { useDeferredValue, useMemo, useState } from 'react';
import { Plain } from '../../code/index.ts';
import { Toggle } from '../../ui/button.tsx';
import { useKeys } from '../../ui/keys.ts';
import { notify } from '../../ui/notices.tsx';
import { Empty } from '../../ui/states.tsx';
import { ApplyBar } from './apply-bar.tsx';
import { isDecided } from './decisions.ts';
import { FilePanel } from './file-panel.tsx';
import { FolderPanel } from './folder-panel.tsx';
import { PathList } from './path-list.tsx';
import { nextOpen, rowsOf } from './tree.ts';
import type { Decisions } from './use-decisions.ts';
import type { Draft, Sending } from './use-send.ts';

const route = getRouteApi('/signed-in/apps/$appId/threads/$threadId/apply');

export function Resolver({
  draft,
  preview,
  decisions,
  sending,
  onAgent,
}: {
  draft: Draft;
  preview: ApplyPreview;
  decisions: Decisions & { entries: NonNullable<Decisions['entries']> };
  sending: Sending;
  onAgent: (applyId: string) => void;
}) {
  const { conflicts } = preview;
  const { entries, change, amend, undo } = decisions;
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const rows = useDeferredValue(
    useMemo(() => rowsOf(conflicts, entries, search.only === 'open'), [conflicts, entries, search.only]),
  );
  // What is shown does not change under a decision; only an address with another path does that.
  const [first] = useState(() => nextOpen(conflicts, entries, null) ?? conflicts[0]!.path);
  const selected = search.path ?? (conflicts.some(({ path }) => path === first) ? first : conflicts[0]!.path);
  // On a phone the list of an open path is folded, until another one is wanted.
  const [listOpenAt, setListOpenAt] = useState<string | null>(null);
  const isListOpen = search.path === undefined || listOpenAt === selected;
  const conflict = conflicts.find(({ path }) => path === selected);
  const isFolder = selected.endsWith('/') && conflicts.some(({ path }) => path.startsWith(selected));
  const goTo = (path: string) => void navigate({ search: (before) => ({ ...before, path }), replace: true });
  const next = () => {
    const path = nextOpen(conflicts, entries, selected);
    if (path === null) notify('Nothing is open.');
    else goTo(path);
  };
  useKeys([
    { keys: 'n', does: 'Next open conflict', run: next },
    { keys: 'u', does: 'Undo the last decision', run: () => undo?.() },
  ]);
  const open = conflicts.filter(({ path }) => !isDecided(entries.get(path)!)).length;
  const props = { ...draft, headSourceId: preview.headSourceId, conflicts, entries, change, amend };
  return (
    <>
      <ApplyBar
        draft={draft}
        preview={preview}
        decisions={decisions}
        sending={sending}
        onAgent={onAgent}
        onNext={next}
      />
      <div
        inert={sending.isSending}
        className="grid border-t border-line md:grow md:grid-cols-[300px_minmax(0,1fr)]"
      >
        <div className="flex flex-col border-b border-line md:sticky md:top-[calc(var(--bar)+49px)] md:max-h-[calc(100dvh-var(--bar)-49px)] md:self-start md:border-b-0">
          <div className="flex min-h-9 items-center justify-between gap-2 border-b border-line px-4">
            <span className="text-12 text-ink-3">
              {conflicts.length - open} of {conflicts.length} decided
            </span>
            <Toggle
              isSelected={search.only === 'open'}
              onChange={(isOn) =>
                void navigate({
                  search: ({ path }) => ({ ...(path && { path }), ...(isOn && { only: 'open' as const }) }),
                  replace: true,
                })
              }
            >
              Only open
            </Toggle>
          </div>
          {search.path !== undefined && (
            <button
              type="button"
              aria-expanded={isListOpen}
              onClick={() => setListOpenAt(isListOpen ? null : selected)}
              className="flex min-h-9 items-center gap-2 px-4 text-left md:hidden"
            >
              <ChevronDown size={14} aria-hidden className={isListOpen ? 'rotate-180' : ''} />
              <span className="min-w-0 grow truncate font-mono text-mono">
                <Plain text={selected} />
              </span>
              {conflict && (
                <span className="shrink-0 text-12 text-ink-3">
                  {conflicts.indexOf(conflict) + 1} of {conflicts.length}
                </span>
              )}
            </button>
          )}
          <div className={`flex min-h-0 flex-col md:grow ${isListOpen ? '' : 'max-md:hidden'}`}>
            {rows.length === 0 ? (
              <p className="px-4 py-3 text-ink-2">Nothing is open.</p>
            ) : (
              <PathList rows={rows} entries={entries} selected={selected} />
            )}
          </div>
        </div>
        <div className="min-w-0 md:border-l md:border-line">
          {conflict ? (
            <FilePanel key={conflict.path} conflict={conflict} {...props} />
          ) : isFolder ? (
            <FolderPanel path={selected} {...props} />
          ) : (
            <Empty title="Not in conflict">
              <p className="long font-mono text-mono">
                <Plain text={selected} />
              </p>
              <p>Both sides agree on it by now. Choose another path, or press n for the next open one.</p>
            </Empty>
          )}
        </div>
      </div>
    </>
  );
}
