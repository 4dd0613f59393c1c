/** The files of a difference: tree, tools and rows. The address has what is selected and how it is shown. */
import type { Source } from '@headrace/client';
import { getRouteApi } from '@tanstack/react-router';
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { Counts, DiffView, FileTree, fileStatus, treeOrder } from '../../code/index.ts';
import type { DiffFile, DiffHandle, Selection } from '../../code/index.ts';
import { useKeys } from '../../ui/keys.ts';
import { Skeleton } from '../../ui/states.tsx';
import { plural } from '../../ui/values.tsx';
import { linesOfSearch, searchOfLines } from './address.ts';
import { DiffTools } from './diff-tools.tsx';
import { useNarrow } from './narrow.ts';
import { usePatches } from './use-patches.ts';
import { pairOf, readViewed, writeViewed } from './viewed.ts';

const route = getRouteApi('/signed-in/apps/$appId/diff');

export function Changes({
  appId,
  from,
  to,
  files: listed,
}: {
  appId: string;
  from: Source;
  to: Source;
  files: readonly DiffFile[];
}) {
  // Rows and tree have one order.
  const files = useMemo(
    () => treeOrder(listed.map(({ path }) => path)).map((index) => listed[index]!),
    [listed],
  );
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const handle = useRef<DiffHandle>(null);
  const isNarrow = useNarrow();
  const [isTreeOpen, setTreeOpen] = useState(false);
  const [find, setFind] = useState('');
  const [current, setCurrent] = useState<string | null>(search.file ?? null);
  const patches = usePatches({ appId, baseId: from.id, sourceId: to.id }, files);

  const pair = pairOf(from.sha256, to.sha256);
  const [viewed, setViewed] = useState(() => readViewed(pair));
  const mark = useCallback(
    ({ path }: Pick<DiffFile, 'path'>, isViewed: boolean) =>
      setViewed((last) => {
        const next = new Set(last);
        if (isViewed) next.add(path);
        else next.delete(path);
        writeViewed(pair, next);
        return next;
      }),
    [pair],
  );

  const look = useMemo(
    () => ({
      split: search.view === 'split' && !isNarrow,
      wrap: search.wrap ?? isNarrow,
      ignoreSpace: search.space === 'hide',
      words: true,
    }),
    [search.view, search.wrap, search.space, isNarrow],
  );
  const { file, L, side } = search;
  const selected = useMemo((): Selection | null => {
    const lines = linesOfSearch(L, side);
    return file !== undefined && lines !== null ? { path: file, lines } : null;
  }, [file, L, side]);
  const select = useCallback(
    ({ path, lines }: Selection) =>
      void navigate({
        search: (last) => ({ ...last, file: path, ...searchOfLines(lines) }),
        replace: true,
        resetScroll: false,
      }),
    [navigate],
  );
  const open = (path: string) => {
    handle.current?.goTo(path);
    setTreeOpen(false);
    void navigate({
      search: (last) => ({ ...last, file: path, L: undefined, side: undefined }),
      replace: true,
      resetScroll: false,
    });
  };
  // The address says where to begin; later it follows the reader. Rows appear with the first patches: guessed heights
  // would move them.
  const start = useRef({ file, lines: linesOfSearch(L, side) });
  const { need } = patches;
  const waits = !patches.hasBegun && files.some(hasPatch);
  useEffect(() => {
    const { file, lines } = start.current;
    const first = files.findIndex(({ path }) => path === file);
    const wanted = files.slice(Math.max(0, first)).filter(hasPatch);
    if (waits) need(wanted.length > 0 ? wanted : files.filter(hasPatch));
    else if (file !== undefined) handle.current?.goTo(file, lines);
  }, [waits, files, need]);

  const markCurrent = () => {
    if (current !== null) mark({ path: current }, !viewed.has(current));
  };
  useKeys([
    { keys: 'j', does: 'Next file', run: () => handle.current?.step(1) },
    { keys: 'k', does: 'Previous file', run: () => handle.current?.step(-1) },
    { keys: 'v', does: 'Mark the file as viewed', run: markCurrent },
  ]);

  const additions = files.reduce((sum, file) => sum + file.additions, 0);
  const deletions = files.reduce((sum, file) => sum + file.deletions, 0);
  return (
    <div className="flex min-h-80 flex-col border-t border-line" style={{ height: 'calc(100dvh - 142px)' }}>
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1 border-b border-line py-1 pr-2 pl-4">
        <p className="flex items-center gap-2 whitespace-nowrap">
          {plural(files.length, 'file')} <Counts additions={additions} deletions={deletions} />
          {viewed.size > 0 && (
            <span className="text-ink-3">{files.filter(({ path }) => viewed.has(path)).length} viewed</span>
          )}
        </p>
        <DiffTools
          look={look}
          canSplit={!isNarrow}
          find={find}
          onFind={setFind}
          search={(back) => handle.current?.find(find, back) ?? true}
          isTreeOpen={isTreeOpen}
          onTree={setTreeOpen}
          onLook={(change) =>
            void navigate({ search: (last) => ({ ...last, ...change }), replace: true, resetScroll: false })
          }
        />
      </div>
      <div className="flex min-h-0 flex-1 max-md:flex-col">
        <FileTree
          label="Changed files"
          className={`w-72 flex-none border-line bg-paper max-md:max-h-[40%] max-md:w-full max-md:border-b md:border-r ${isTreeOpen ? '' : 'max-md:hidden'}`}
          paths={useMemo(() => files.map(({ path }) => path), [files])}
          current={current}
          onOpen={open}
          isDone={(path) => viewed.has(path)}
          renderNote={(index) => <TreeNote file={files[index]!} />}
        />
        {waits ? (
          <div className="min-w-0 flex-1 bg-surface">
            <Skeleton lines={12} height={24} />
          </div>
        ) : (
          <DiffView
            className="min-w-0 flex-1"
            files={patches.files}
            pair={`${from.id} ${to.id}`}
            look={look}
            find={find}
            viewed={viewed}
            onViewed={mark}
            selected={selected}
            onSelect={select}
            onNeed={patches.need}
            problems={patches.problems}
            onRetry={patches.retry}
            onCurrent={setCurrent}
            handle={handle}
          />
        )}
      </div>
    </div>
  );
}

/** Whether a file has lines that are read apart. */
const hasPatch = (file: DiffFile) =>
  !file.binary && file.truncated !== true && file.additions + file.deletions > 0;

function TreeNote({ file }: { file: DiffFile }) {
  const { word, mark } = fileStatus(file.status);
  return (
    <span className="flex items-center gap-2">
      {file.additions + file.deletions > 0 && (
        <Counts additions={file.additions} deletions={file.deletions} />
      )}
      <span
        className="w-3 text-center font-mono text-12 text-ink-2"
        role="img"
        aria-label={word}
        title={word}
      >
        {mark}
      </span>
    </span>
  );
}
