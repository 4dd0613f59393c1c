import { Link } from '@tanstack/react-router';
import { memo } from 'react';
import type { CSSProperties } from 'react';
import { CodeLine } from '../../code/code-line.tsx';
import { Plain } from '../../code/index.ts';
import { plural } from '../../ui/values.tsx';
import type { FoundFile, ShownLine } from './matches.ts';

interface Props {
  appId: string;
  sourceId: string;
}

/** Each file with its lines; a line that matches is a link to its place. Of one search. */
export const FoundFiles = memo(function FoundFiles({
  files,
  ...place
}: Props & { files: readonly FoundFile[] }) {
  return files.map((file) => <OneFile key={file.path} file={file} {...place} />);
});

/** With as many matches, it is the same: those of further pages are added to those that are shown. */
const isSame = (one: FileProps, other: FileProps) =>
  one.file.count === other.file.count && one.sourceId === other.sourceId;

type FileProps = Props & { file: FoundFile };

const OneFile = memo(function OneFile({ file: { path, count, lines }, ...place }: FileProps) {
  return (
    <section aria-label={path} className="border-t border-line">
      <h2 className="flex items-center gap-3 bg-sunk px-4 py-1">
        <Link
          to="/apps/$appId/sources/$sourceId"
          params={place}
          search={(last) => ({ ...last, file: path })}
          className="long font-mono text-mono hover:underline"
        >
          <Plain text={path} />
        </Link>
        <span className="ml-auto text-12 whitespace-nowrap text-ink-2">{plural(count, 'line')}</span>
      </h2>
      <div
        className="code code-wrap"
        style={{ '--digits': String(lines.at(-1)!.number).length } as CSSProperties}
      >
        {lines.map((line) => (
          <Row key={line.number} path={path} line={line} {...place} />
        ))}
      </div>
    </section>
  );
}, isSame);

function Row({ path, line, ...place }: Props & { path: string; line: ShownLine }) {
  const { number, text, match, isAfterGap } = line;
  const gap = isAfterGap ? 'border-t border-line' : '';
  const content = (
    <>
      <span className="code-numbers">
        <span className="code-number">{number}</span>
      </span>
      <span className="code-text">
        <CodeLine text={text} marks={match ? [{ className: 'code-found', ranges: match.ranges }] : []} />
        {match?.isCut && <span className="code-note">the line goes on</span>}
      </span>
    </>
  );
  if (!match) return <div className={`code-row py-0.5 text-ink-2 ${gap}`}>{content}</div>;
  return (
    <Link
      to="/apps/$appId/sources/$sourceId"
      params={place}
      search={(last) => ({ ...last, file: path, L: String(number) })}
      data-row
      className={`code-row py-0.5 hover:bg-sunk focus-visible:-outline-offset-2 ${gap}`}
    >
      {content}
    </Link>
  );
}
