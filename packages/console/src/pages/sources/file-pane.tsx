/** One file: its text, its picture, or that it is neither. */
import type { SourceFileContent } from '@headrace/client';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { WrapText } from 'lucide-react';
import { useRef, useState } from 'react';
import { fileQuery } from '../../api/queries.ts';
import { CodeView, Plain } from '../../code/index.ts';
import type { CodeHandle } from '../../code/index.ts';
import { Button, Toggle } from '../../ui/button.tsx';
import { Empty, Shown, Skeleton } from '../../ui/states.tsx';
import { bytes } from '../../ui/values.tsx';
import { saveFile } from '../../ui/save-file.ts';
import { Permalink } from '../diff/diff-tools.tsx';
import { FindField } from '../diff/find-field.tsx';
import { useNarrow } from '../diff/narrow.ts';
import { linesOfSearch, searchOfLines } from '../diff/address.ts';
import { imageType } from './image-type.ts';

const route = getRouteApi('/signed-in/apps/$appId/sources/$sourceId');

interface Props {
  appId: string;
  sourceId: string;
  path: string;
  /** `L` of the address. */
  lines: string | undefined;
}

export function FilePane({ appId, sourceId, path, lines }: Props) {
  const file = useQuery(fileQuery(appId, sourceId, path));
  return (
    <Shown query={file} skeleton={<Skeleton lines={10} height={20} />}>
      {(data) => <Content file={data} lines={lines} />}
    </Shown>
  );
}

function Content({ file, lines }: { file: SourceFileContent; lines: string | undefined }) {
  const navigate = route.useNavigate();
  const handle = useRef<CodeHandle>(null);
  const [find, setFind] = useState('');
  const isNarrow = useNarrow();
  const [wrap = isNarrow, setWrap] = useState<boolean>();
  const isText = file.encoding === 'utf8';
  const selected = linesOfSearch(lines, undefined);
  return (
    <>
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1 border-b border-line py-1 pr-2 pl-4">
        <h2 className="long font-mono text-mono">
          <Plain text={file.path} />
        </h2>
        <span className="whitespace-nowrap text-12 text-ink-3">
          {bytes(file.byteSize)}
          {file.executable && ', executable'}
        </span>
        <div className="ml-auto flex flex-wrap items-center gap-1">
          {isText && (
            <>
              <FindField
                text={find}
                onText={setFind}
                search={(back) => handle.current?.find(find, back) ?? true}
                missing="No match"
              />
              <Toggle kind="quiet" isSelected={wrap} onChange={setWrap}>
                <WrapText size={14} aria-hidden /> Wrap
              </Toggle>
            </>
          )}
          <Permalink />
          <Button kind="quiet" onPress={() => save(file)}>
            Download
          </Button>
        </div>
      </div>
      {isText && file.content !== '' ? (
        <CodeView
          className="min-h-0 flex-1"
          path={file.path}
          text={file.content}
          sha256={file.sha256}
          wrap={wrap}
          find={find}
          selected={selected}
          onSelect={({ from, to }) =>
            void navigate({
              search: (last) => ({
                ...last,
                file: file.path,
                L: searchOfLines({ from, to, side: 'new' }).L,
              }),
              replace: true,
              resetScroll: false,
            })
          }
          handle={handle}
        />
      ) : (
        <Other file={file} />
      )}
    </>
  );
}

function Other({ file }: { file: SourceFileContent }) {
  const type = imageType(file.path);
  if (file.content === '') return <Empty title="Empty file">It has no content.</Empty>;
  if (type === null)
    return (
      <Empty title="Binary file">It is not text ({bytes(file.byteSize)}). Download it to look at it.</Empty>
    );
  return (
    <div className="min-h-0 flex-1 overflow-auto bg-sunk p-4">
      <img
        src={`data:${type};base64,${file.content}`}
        alt={file.path}
        className="max-w-full border border-line bg-surface"
      />
    </div>
  );
}

function save(file: SourceFileContent): void {
  const content =
    file.encoding === 'utf8'
      ? file.content
      : Uint8Array.from(atob(file.content), (byte) => byte.codePointAt(0)!);
  saveFile(file.path.split('/').at(-1)!, new Blob([content], { type: 'application/octet-stream' }));
}
