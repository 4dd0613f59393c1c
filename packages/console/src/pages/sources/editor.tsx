/** Edits a source by hand: all changes together are one new source. */
import type { Source } from '@headrace/client';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { client } from '../../api/client.ts';
import { fileQuery, sourcesQuery } from '../../api/queries.ts';
import { useOffReason, useWrite } from '../../api/write.ts';
import { Plain } from '../../code/index.ts';
import { AsCode } from '../../ui/as-code.tsx';
import { Button } from '../../ui/button.tsx';
import { Field } from '../../ui/fields.tsx';
import { notify } from '../../ui/notices.tsx';
import { Empty, Shown, Skeleton } from '../../ui/states.tsx';
import { plural } from '../../ui/values.tsx';
import { readEdits, withLineEnds, writeEdits } from './edits.ts';
import type { Edits } from './edits.ts';

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
  const [edits, setEdits] = useState<Edits>(() => readEdits(source.id));
  useEffect(() => writeEdits(source.id, edits), [source.id, edits]);
  const setEdit = (path: string, text: string | null | undefined) =>
    setEdits((last) => {
      const next = { ...last };
      if (text === undefined) delete next[path];
      else next[path] = text;
      return next;
    });
  return (
    <>
      <Changes appId={appId} source={source} edits={edits} onSent={() => setEdits({})} onOpen={onOpen} />
      <NewFile
        onMake={(made) => {
          setEdit(made, '');
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
          edits={edits}
          onEdit={setEdit}
        />
      )}
    </>
  );
}

function Changes({
  appId,
  source,
  edits,
  onSent,
  onOpen,
}: Omit<Props, 'path' | 'isNew'> & { edits: Edits; onSent: () => void }) {
  const navigate = useNavigate();
  const queries = useQueryClient();
  const offReason = useOffReason();
  const [message, setMessage] = useState('');
  const paths = Object.keys(edits);
  const body = {
    baseSourceId: source.id,
    changes: paths.map((path) => ({ path, content: edits[path]! })),
    ...(message.trim() !== '' && { message: message.trim() }),
  };
  const write = useWrite({
    intent: `edit source ${source.id}`,
    call: (input: typeof body, options) => client.sources.import(appId, input, options),
    onDone: ({ source: made }) => {
      onSent();
      notify('A new source is made.');
      void queries.invalidateQueries({ queryKey: sourcesQuery(appId).queryKey });
      void navigate({ to: '/apps/$appId/diff', params: { appId }, search: { from: source.id, to: made.id } });
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
          ts={`client.sources.import(${JSON.stringify(appId)}, ${JSON.stringify(body, null, 2)})`}
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
      {write.fault && (
        <p role="alert" className="long text-fail">
          {write.fault.title}: {write.fault.message}
          {write.fault.fields.map((field) => ` ${field.path}: ${field.message}`)}
          {write.fault.requestId && (
            <span className="font-mono text-12"> (request {write.fault.requestId})</span>
          )}
        </p>
      )}
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
  edits: Edits;
  onEdit: (path: string, text: string | null | undefined) => void;
}

function Text(props: TextProps) {
  const { appId, sourceId, path, isNew, edits } = props;
  const edit = edits[path];
  // A new file has no content to read.
  const file = useQuery({ ...fileQuery(appId, sourceId, path), enabled: !isNew });
  if (isNew && edit === undefined)
    return (
      <Empty title="No such file">The source has no file of this path. Add it, or open another one.</Empty>
    );
  if (edit !== undefined && !file.data) return <Area {...props} before={undefined} />;
  return (
    <Shown query={file} skeleton={<Skeleton lines={10} height={20} />}>
      {(data) =>
        data.encoding === 'utf8' || edit !== undefined ? (
          <Area {...props} before={data.encoding === 'utf8' ? data.content : undefined} />
        ) : (
          <Empty title="Binary file">
            It cannot be edited as text.
            <Button kind="danger" onPress={() => props.onEdit(path, null)}>
              Delete the file
            </Button>
          </Empty>
        )
      }
    </Shown>
  );
}

function Area({ path, edits, onEdit, before }: TextProps & { before: string | undefined }) {
  const edit = edits[path];
  const text = edit === undefined ? (before ?? '') : (edit ?? '');
  const isDeleted = edit === null;
  return (
    <>
      <div className="flex flex-wrap items-center gap-2 border-b border-line px-3 py-1">
        <h2 className="long mr-auto font-mono text-mono">
          <Plain text={path} />
        </h2>
        {edit !== undefined && (
          <Button kind="quiet" onPress={() => onEdit(path, undefined)}>
            Undo the change
          </Button>
        )}
        {!isDeleted && (
          <Button kind="quiet" onPress={() => onEdit(path, null)}>
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
            onEdit(path, value === before ? undefined : value);
          }}
        />
      )}
    </>
  );
}
