import { MAX_BYTES, MAX_FILE_BYTES, MAX_FILES } from '@headrace/client/files';
import type { ReactNode } from 'react';
import { ProgressBar } from 'react-aria-components/ProgressBar';
import { Plain } from '../../../code/plain.tsx';
import { useAppWord } from '../../../api/app-word.ts';
import { useOffReason } from '../../../api/write.ts';
import { AsCode } from '../../../ui/as-code.tsx';
import { Button } from '../../../ui/button.tsx';
import { Choices } from '../../../ui/choices.tsx';
import { Field } from '../../../ui/fields.tsx';
import { useKept } from '../../../ui/kept.ts';
import { bytes, count, plural } from '../../../ui/values.tsx';
import { DropZone } from './drop-zone.tsx';
import { faultsByPath } from './faults.ts';
import { LeftOutList, PathFaults } from './left-out.tsx';
import { MAX_ARCHIVE_BYTES, useImport } from './use-import.ts';
import type { Content, Import, ImportOptions, Links, Refusal, Stage } from './use-import.ts';

const LINKS = [
  { id: 'refuse', text: 'Refuse the archive' },
  { id: 'skip', text: 'Leave them out' },
  { id: 'follow', text: 'Copy what they lead to' },
];

/** Everything between a drop and a stored source. */
export function ImportPanel(options: ImportOptions) {
  const own = useImport(options);
  const { content, stage } = own;
  if (content) return <Chosen content={content} own={own} appId={options.appId} />;
  if (stage.is !== 'idle') return <Progress stage={stage} onCancel={own.cancel} />;
  return (
    <div className="flex flex-col gap-3">
      {own.refusal && <Refused refusal={own.refusal} />}
      <DropZone onEntries={own.choose}>
        <p className="text-15 font-bold">Drop a folder here</p>
        <p className="max-w-[64ch] text-ink-2">
          Left out are .git, folders of dependencies, and what .gitignore and .headraceignore name. You see
          what it is before anything is sent.
        </p>
        <p className="text-12 text-ink-3">
          At most {count(MAX_FILES)} files, {mebi(MAX_FILE_BYTES)} each, {mebi(MAX_BYTES)} in all. A .tar.gz
          of at most {mebi(MAX_ARCHIVE_BYTES)} is sent as it is.
        </p>
      </DropZone>
    </div>
  );
}

function Chosen({ content, own, appId }: { content: Content; own: Import; appId: string }) {
  const [message, setMessage] = useKept(`import ${appId}`, '');
  const off = useOffReason();
  const word = useAppWord();
  const { stage, refusal } = own;
  const isBusy = stage.is !== 'idle';
  const block = blockOf(content);
  const send = () => {
    own.send(message);
  };
  const body = { files: [{ path: 'README.md', content: '…' }], message };
  return (
    <div className="flex flex-col gap-4">
      <Summary content={content} />
      {refusal && <Refused refusal={refusal} />}
      {content.kind === 'files' && (
        <>
          {content.scan.fields.length > 0 && (
            <Box>
              <p>These files break a rule for sources. Mend them, then choose the folder again.</p>
              <PathFaults
                faults={faultsByPath(
                  content.scan.fields,
                  content.scan.files.map(({ path }) => path),
                )}
              />
            </Box>
          )}
          <LeftOutList items={content.scan.leftOut} isOff={isBusy} onTake={own.take} />
        </>
      )}
      {content.kind === 'archive' && (
        <Choices
          label="Symbolic links in the archive"
          choices={LINKS}
          value={content.links}
          onChange={(links) => own.setLinks(links as Links)}
        />
      )}
      <Field
        label="What this version is"
        hint="Optional. It is shown in the list of sources."
        value={message}
        onChange={setMessage}
        maxLength={10_000}
      />
      {isBusy ? (
        <Progress stage={stage} onCancel={own.cancel} />
      ) : (
        <div className="flex flex-wrap items-center gap-2">
          <Button kind="primary" onPress={send} offBecause={off ?? block}>
            Import
          </Button>
          <Button onPress={own.clear}>Choose another</Button>
          <AsCode
            method="POST"
            path={`/api/platform/v1/apps/${appId}/sources`}
            body={body}
            ts={
              word === 'project'
                ? `await client.project('${appId}').sources.import(${JSON.stringify(body)});`
                : `import { push } from '@headrace/client/node';\n\nawait push(client, '${appId}', '.', ${JSON.stringify({ message })});`
            }
            cli={`headrace push . --app ${appId}`}
          />
        </div>
      )}
    </div>
  );
}

const mebi = (value: number) => `${value / 1024 ** 2} MiB`;

function blockOf(content: Content): string | null {
  if (content.kind === 'archive')
    return content.file.size > MAX_ARCHIVE_BYTES
      ? `An archive has at most ${mebi(MAX_ARCHIVE_BYTES)}.`
      : null;
  return content.scan.fields.length > 0 ? 'Some files break a rule for sources.' : null;
}

function Summary({ content }: { content: Content }) {
  const name = content.kind === 'files' ? content.name : content.file.name;
  const size =
    content.kind === 'files'
      ? `${plural(content.scan.files.length, 'file')}, ${bytes(content.scan.byteSize)}`
      : bytes(content.file.size);
  return (
    <div>
      <p className="long text-15 font-bold">
        <Plain text={name} />
      </p>
      <p className="text-ink-2">{size}</p>
      {content.kind === 'files' && (
        <p className="text-12 text-ink-3">
          A browser does not tell which files are executable: those that begin with #! will be.
        </p>
      )}
    </div>
  );
}

const Box = ({ children }: { children: ReactNode }) => (
  <div role="alert" className="flex flex-col gap-1 border-l-2 border-fail pl-3">
    {children}
  </div>
);

function Refused({ refusal: { fault, paths } }: { refusal: Refusal }) {
  return (
    <Box>
      <p className="font-bold">{fault.title}</p>
      {paths.length > 0 ? (
        <>
          <p>The service takes none of it, because of these:</p>
          <PathFaults faults={paths} />
        </>
      ) : (
        <p className="long text-ink-2">{fault.message}</p>
      )}
      {fault.requestId && <p className="font-mono text-mono text-ink-3">request {fault.requestId}</p>}
    </Box>
  );
}

function Progress({ stage, onCancel }: { stage: Stage; onCancel: () => void }) {
  const [words, done, of] = progressOf(stage);
  return (
    <div className="flex flex-wrap items-center gap-3">
      <ProgressBar
        aria-label="Import"
        value={done}
        maxValue={of || 1}
        isIndeterminate={of === 0}
        className="h-1.5 w-60 max-w-full overflow-hidden rounded bg-sunk"
      >
        <div
          className={`h-full bg-water ${of === 0 ? 'opacity-40' : ''}`}
          style={{ width: of === 0 ? '100%' : `${(done / of) * 100}%` }}
        />
      </ProgressBar>
      <span role="status" className="tabular-nums">
        {words}
      </span>
      <Button onPress={onCancel}>Cancel</Button>
    </div>
  );
}

function progressOf(stage: Stage): [words: string, done: number, of: number] {
  if (stage.is === 'reading') return [`Reading the folder: ${plural(stage.files, 'file')}`, 0, 0];
  if (stage.is === 'packing')
    return [`Packing ${count(stage.files)} of ${plural(stage.of, 'file')}`, stage.files, stage.of];
  if (stage.is === 'sending' && stage.bytes < stage.of)
    return [`Sent ${bytes(stage.bytes)} of ${bytes(stage.of)}`, stage.bytes, stage.of];
  return ['The service reads the files', 0, 0];
}
