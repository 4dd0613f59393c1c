/** One source: what it is, its files, and one of them. */
import type { Source } from '@headrace/client';
import { useQuery } from '@tanstack/react-query';
import { Link, getRouteApi } from '@tanstack/react-router';
import { FolderTree } from 'lucide-react';
import { lazy, Suspense, useMemo, useState } from 'react';
import { appQuery, sourceQuery } from '../../api/queries.ts';
import { useMay } from '../../api/session.ts';
import { FileTree, Plain } from '../../code/index.ts';
import { Button, ButtonLink, Toggle } from '../../ui/button.tsx';
import { useKeys } from '../../ui/keys.ts';
import { Page } from '../../ui/page.tsx';
import { Empty, Failure, Shown, Skeleton } from '../../ui/states.tsx';
import { Id, Time, bytes, plural } from '../../ui/values.tsx';
import { ORIGINS, sourceName } from '../diff/source-picker.tsx';
import { BringBack } from './bring-back.tsx';
import { CommitOf, KeptAside } from './commit.tsx';
import { Editor } from './editor.tsx';
import { FilePane } from './file-pane.tsx';
import { Parents } from './sources-page.tsx';
import { useFiles } from './use-files.ts';

const route = getRouteApi('/signed-in/apps/$appId/sources/$sourceId');

const SearchPane = lazy(async () => ({ default: (await import('./search-pane.tsx')).SearchPane }));

/** The address without the words of a search. */
const NO_SEARCH = {
  q: undefined,
  regex: undefined,
  ignoreCase: undefined,
  include: undefined,
  exclude: undefined,
};

export function SourcePage() {
  const { appId, sourceId } = route.useParams();
  const source = useQuery(sourceQuery(appId, sourceId));
  const { edit = false, q, file } = route.useSearch();
  const navigate = route.useNavigate();
  const isSearching = q !== undefined && file === undefined && !edit;
  const search = () =>
    void navigate({
      search: (last) => ({ ...last, q: last.q ?? '', file: undefined, L: undefined, edit: undefined }),
    });
  // Where the words are shown already, `/` goes to them.
  useKeys(isSearching ? [] : [{ keys: 's', does: 'Search in all files', run: search }]);
  // There, a change is a commit: it is made in a thread.
  const hasRepository = useQuery(appQuery(appId)).data?.repositoryId != null;
  const mayEdit = useMay('project:update') && !hasRepository;
  const archive = `/api/projects/${encodeURIComponent(appId)}/sources/${encodeURIComponent(sourceId)}/archive`;
  return (
    <Page
      title={source.data ? sourceName(source.data) : 'Source'}
      heading={source.data && <Plain text={sourceName(source.data)} />}
      actions={
        source.data && (
          <>
            {!isSearching && <Button onPress={search}>{q ? 'Back to the matches' : 'Search'}</Button>}
            {isSearching && (
              <Button onPress={() => void navigate({ search: (last) => ({ ...last, ...NO_SEARCH }) })}>
                Show the files
              </Button>
            )}
            {source.data.parentSourceIds.length > 0 && (
              <ButtonLink to="/apps/$appId/diff" params={{ appId }} search={{ to: sourceId }}>
                Changes
              </ButtonLink>
            )}
            <a className="button" href={archive} download={`${sourceId}.tar.gz`}>
              Archive
            </a>
            <BringBack appId={appId} sourceId={sourceId} />
            {mayEdit && (
              <Toggle
                isSelected={edit}
                onChange={(on) => void navigate({ search: (last) => ({ ...last, edit: on || undefined }) })}
              >
                Edit
              </Toggle>
            )}
          </>
        )
      }
    >
      <Shown query={source} skeleton={<Skeleton lines={8} />}>
        {(data) => (
          <>
            <Line appId={appId} source={data} />
            {data.commit && <KeptAside commit={data.commit} />}
            {isSearching ? (
              <Suspense fallback={<Skeleton lines={10} />}>
                <SearchPane key={data.id} appId={appId} sourceId={data.id} />
              </Suspense>
            ) : (
              <Files key={data.id} appId={appId} source={data} isEditing={edit && mayEdit} />
            )}
          </>
        )}
      </Shown>
    </Page>
  );
}

function Line({ appId, source }: { appId: string; source: Source }) {
  return (
    <p className="flex flex-wrap items-center gap-x-4 gap-y-1 px-4 pb-2 text-ink-2">
      <Id value={source.id} />
      <span>{source.commit ? 'Commit' : (ORIGINS[source.origin] ?? source.origin)}</span>
      {source.commit && <CommitOf commit={source.commit} />}
      <Time at={source.createdAt} />
      <span>
        {plural(source.fileCount, 'file')}, {bytes(source.byteSize)}
      </span>
      {source.parentSourceIds.length > 0 && (
        <span className="flex gap-2">
          since <Parents appId={appId} source={source} />
        </span>
      )}
      {source.threadId !== null && (
        <Link
          to="/apps/$appId/threads/$threadId"
          params={{ appId, threadId: source.threadId }}
          className="link"
        >
          Its thread
        </Link>
      )}
      <Link to="/apps/$appId/builds" params={{ appId }} search={{ sourceId: source.id }} className="link">
        Its builds
      </Link>
      <Link to="/apps/$appId/previews" params={{ appId }} search={{ sourceId: source.id }} className="link">
        Its previews
      </Link>
    </p>
  );
}

const FIRST = ['README.md', 'readme.md', 'README', 'package.json'];

/** The file to begin with. It stays while more of the list arrives. */
function useFirst(paths: string[]): string | null {
  const [first, setFirst] = useState<string | null>(null);
  if (first !== null || paths.length === 0) return first;
  const found = FIRST.find((path) => paths.includes(path)) ?? paths[0]!;
  setFirst(found);
  return found;
}

function Files({ appId, source, isEditing }: { appId: string; source: Source; isEditing: boolean }) {
  const { file, L } = route.useSearch();
  const navigate = route.useNavigate();
  const list = useFiles(appId, source.id);
  const [isTreeOpen, setTreeOpen] = useState(file === undefined);
  const paths = useMemo(() => list.files.map(({ path }) => path), [list.files]);
  const first = useFirst(paths);
  const shown = file ?? first;
  const open = (path: string) => {
    setTreeOpen(false);
    void navigate({ search: (last) => ({ ...last, file: path, L: undefined }), resetScroll: false });
  };
  if (list.error) return <Failure error={list.error} retry={list.retry} />;
  if (list.isLoading) return <Skeleton lines={8} />;
  if (paths.length === 0 && !isEditing) return <Empty title="No files">The source is empty.</Empty>;
  return (
    <div
      className="flex min-h-80 border-t border-line max-md:flex-col"
      style={{ height: 'calc(100dvh - 166px)' }}
    >
      <div className="border-b border-line px-1.5 py-1 md:hidden">
        <Toggle kind="quiet" isSelected={isTreeOpen} onChange={setTreeOpen}>
          <FolderTree size={14} aria-hidden /> Files
        </Toggle>
      </div>
      <div
        className={`flex w-72 flex-none flex-col border-line max-md:max-h-[45%] max-md:w-full max-md:border-b md:border-r ${isTreeOpen ? '' : 'max-md:hidden'}`}
      >
        <FileTree label="Files" className="min-h-0 flex-1" paths={paths} current={shown} onOpen={open} />
        {list.more && (
          <div className="flex flex-wrap items-center gap-2 border-t border-line p-2">
            {list.fault && <span className="long text-fail">{list.fault}</span>}
            <Button onPress={list.more}>Read more files</Button>
          </div>
        )}
      </div>
      <div className="flex min-h-0 min-w-0 flex-1 flex-col">
        {isEditing ? (
          <Editor
            appId={appId}
            source={source}
            path={shown}
            onOpen={open}
            isNew={(path) => list.isComplete && !paths.includes(path)}
          />
        ) : shown === null ? null : (
          <FilePane key={shown} appId={appId} sourceId={source.id} path={shown} lines={L} />
        )}
      </div>
    </div>
  );
}
