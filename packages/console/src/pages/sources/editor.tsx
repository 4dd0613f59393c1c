/** Edits a source by hand: all changes together are one new source. */
import { HeadraceError } from '@headrace/client';
import type { Source } from '@headrace/client';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { client } from '../../api/client.ts';
import { fileQuery, sourcesQuery } from '../../api/queries.ts';
import { useOffReason, useWrite } from '../../api/write.ts';
import { Plain } from '../../code/index.ts';
import { AsCode } from '../../ui/as-code.tsx';
import { Button } from '../../ui/button.tsx';
import { FaultLine } from '../../ui/fault-line.tsx';
import { Field } from '../../ui/fields.tsx';
import { notify } from '../../ui/notices.tsx';
import { Empty, Shown, Skeleton } from '../../ui/states.tsx';
import { useIsMounted } from '../../ui/use-is-mounted.ts';
import { plural } from '../../ui/values.tsx';
import { hasMixedEnds, useEdits, withLineEnds } from './edits.ts';
import type { EditStore, Edits } from './edits.ts';

interface Props {
  appId: string;
  source: Source;
  /** The file that is shown; null for none. */
  path: string | null;
  onOpen: (path: string) => void;
  /** Whether the source surely has no file of this path. */
  isNew: (path: string) => boolean;
}

export function Editor({ appId, source, path, onOpen, isNew }: Props) {
  const { edits, unkept, store } = useEdits(source.id);
  return (
    <>
      <Changes appId={appId} source={source} edits={edits} store={store} onOpen={onOpen} />
      <NewFile
        onMake={(made) => {
          // A file that is there, or may be, is only opened: nothing in it is lost.
          if (isNew(made) && edits[made] === undefined) store.set(made, '');
          onOpen(made);
        }}
      />
      {path !== null && (
        <Text
          key={path}
          appId={appId}
          sourceId={source.id}
          path={path}
          isNew={isNew(path)}
          edit={edits[path]}
          isUnkept={unkept.has(path)}
          onEdit={(text) => store.set(path, text)}
        />
      )}
    </>
  );
}

function Changes({
  appId,
  source,
  edits,
  store,
  onOpen,
}: Omit<Props, 'path' | 'isNew'> & { edits: Edits; store: EditStore }) {
  const navigate = useNavigate();
  const queries = useQueryClient();
  const offReason = useOffReason();
  const [message, setMessage] = useState('');
  const isHere = useIsMounted();
  const paths = Object.keys(edits);
  const body = {
    baseSourceId: source.id,
    changes: paths.map((path) => ({ path, content: edits[path]! })),
    ...(message.trim() !== '' && { message: message.trim() }),
  };
  const write = useWrite({
    intent: `edit source ${source.id}`,
    call: (input: typeof body, options) => client.sources.import(appId, input, options),
    onDone: ({ source: made }, sent) => {
      store.drop(sent.changes);
      const hasMore = Object.keys(store.state().edits).length > 0;
      notify(`The new source was made.${hasMore ? ' What was changed since is still to be sent.' : ''}`);
      void queries.invalidateQueries({ queryKey: sourcesQuery(appId).queryKey });
      // Who goes on typing, or is elsewhere, stays there.
      if (isHere.current && !hasMore)
        void navigate({
          to: '/apps/$appId/diff',
          params: { appId },
          search: { from: source.id, to: made.id },
        });
    },
  });
  return (
    <form
      className="flex flex-col gap-2 border-b border-line px-3 py-2"
      onSubmit={(event) => {
        event.preventDefault();
        if (paths.length > 0 && !offReason && !write.isSending) write.send(body);
      }}
    >
      <div className="flex flex-wrap items-end gap-2">
        <div className="min-w-40 flex-1">
          <Field label="Message of the new source" value={message} onChange={setMessage} />
        </div>
        <Button
          type="submit"
          kind="primary"
          isPending={write.isSending}
          offBecause={offReason ?? (paths.length === 0 ? 'Nothing is changed yet.' : null)}
        >
          Make a source of {plural(paths.length, 'change')}
        </Button>
        <AsCode
          method="POST"
          path={`/api/platform/v1/apps/${appId}/sources`}
          body={body}
          ts={() => `client.sources.import(${JSON.stringify(appId)}, ${JSON.stringify(body, null, 2)})`}
        />
      </div>
      {paths.length > 0 && (
        <ul className="flex flex-wrap gap-x-3">
          {paths.map((path) => (
            <li key={path}>
              <button type="button" className="link font-mono text-mono" onClick={() => onOpen(path)}>
                {edits[path] === null && '− '}
                <Plain text={path} />
              </button>
            </li>
          ))}
        </ul>
      )}
      <FaultLine fault={write.fault} />
    </form>
  );
}

function NewFile({ onMake }: { onMake: (path: string) => void }) {
  const [path, setPath] = useState('');
  return (
    <form
      className="flex flex-wrap items-end gap-2 border-b border-line px-3 py-2"
      onSubmit={(event) => {
        event.preventDefault();
        if (path.trim() === '') return;
        onMake(path.trim());
        setPath('');
      }}
    >
      <div className="min-w-40 flex-1">
        <Field label="Path of a new file" mono value={path} onChange={setPath} placeholder="src/new.ts" />
      </div>
      <Button type="submit">Add it</Button>
    </form>
  );
}

interface TextProps {
  appId: string;
  sourceId: string;
  path: string;
  isNew: boolean;
  /** Null for a deleted file. */
  edit: string | null | undefined;
  /** Whether a reload loses it. */
  isUnkept: boolean;
  onEdit: (text: string | null | undefined) => void;
}

function Text(props: TextProps) {
  const { appId, sourceId, path, isNew, edit, onEdit } = props;
  // A new file has no content to read.
  const file = useQuery({ ...fileQuery(appId, sourceId, path), enabled: !isNew });
  const isMissing = isNew || isNotFound(file.error);
  if (isMissing && edit === undefined)
    return (
      <Empty title="No such file">
        The source has no file of this path.
        <Button onPress={() => onEdit('')}>Make this file</Button>
      </Empty>
    );
  if (isMissing || edit === null) return <Area {...props} before={undefined} />;
  // Only with its content at hand can a text keep the file's line ends.
  return (
    <Shown query={file} skeleton={<Skeleton lines={10} height={20} />}>
      {(data) =>
        data.encoding === 'utf8' || edit !== undefined ? (
          <Area {...props} before={data.encoding === 'utf8' ? data.content : undefined} />
        ) : (
          <Empty title="Binary file">
            It cannot be edited as text.
            <Button kind="danger" onPress={() => onEdit(null)}>
              Delete the file
            </Button>
          </Empty>
        )
      }
    </Shown>
  );
}

const isNotFound = (error: unknown) => error instanceof HeadraceError && error.status === 404;

function Area({ path, edit, isUnkept, onEdit, before }: TextProps & { before: string | undefined }) {
  const text = edit === undefined ? (before ?? '') : (edit ?? '');
  const isMixed = useMemo(() => before !== undefined && hasMixedEnds(before), [before]);
  const isDeleted = edit === null;
  return (
    <>
      <div className="flex flex-wrap items-center gap-2 border-b border-line px-3 py-1">
        <h2 className="long mr-auto font-mono text-mono">
          <Plain text={path} />
        </h2>
        {isUnkept && <span className="text-fail">Too large to be kept: a reload loses it.</span>}
        {isMixed && edit !== undefined && !isDeleted && (
          <span className="text-ink-2">Its line ends are mixed: all become line feeds.</span>
        )}
        {edit !== undefined && (
          <Button kind="quiet" onPress={() => onEdit(undefined)}>
            Undo the change
          </Button>
        )}
        {!isDeleted && (
          <Button kind="quiet" onPress={() => onEdit(null)}>
            Delete the file
          </Button>
        )}
      </div>
      {isDeleted ? (
        <Empty title="Deleted">The new source will not have this file.</Empty>
      ) : (
        <textarea
          aria-label={`Text of ${path}`}
          spellCheck={false}
          className="min-h-40 w-full flex-1 resize-none bg-surface p-3 font-mono text-mono"
          value={text}
          onChange={(event) => {
            const value = withLineEnds(event.currentTarget.value, before);
            // Text as it was is no change.
            onEdit(value === before ? undefined : value);
          }}
        />
      )}
    </>
  );
}
