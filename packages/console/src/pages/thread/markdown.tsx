/** Markdown of people and agents as React elements: never as HTML. */
import { Marked } from 'marked';
import type { Token, Tokens } from 'marked';
import { memo, useEffect, useState } from 'react';
import type { ReactNode } from 'react';
import { AnsiView, Plain } from '../../code/index.ts';
import { CopyButton } from '../../ui/values.tsx';
import { Wrapped } from './wrapped.tsx';
import { safeHref } from '../../ui/safe-href.ts';
import { blocksOf, segmentsOf, unescaped } from './safe-text.ts';

/** Deeper ones are shown as they were written. */
const DEEPEST = 24;
const marked = new Marked({ gfm: true, breaks: true });

/** `text` may grow: what is as before is neither read nor rendered again, and laid out again only on the screen. */
export function Markdown({ text, isGrowing = false }: { text: string; isGrowing?: boolean }) {
  const segments = segmentsOf(text);
  return (
    <div className="long flex flex-col gap-2">
      {segments.map((segment, at) => (
        <Segment key={at} text={segment} isDone={isGrowing && at < segments.length - 1} />
      ))}
    </div>
  );
}

const Segment = memo(({ text, isDone }: { text: string; isDone: boolean }) => {
  const [isLaidOut, setLaidOut] = useState(false);
  useEffect(() => {
    if (!isDone) return undefined;
    // The browser knows the height of what it has laid out once. In a hidden tab there are no frames.
    let frame = requestAnimationFrame(() => {
      frame = requestAnimationFrame(() => setLaidOut(true));
    });
    return () => cancelAnimationFrame(frame);
  }, [isDone]);
  return (
    <div
      // What is hidden at the edge is the outline of a link with the focus.
      className={`-mx-1 flex flex-col gap-2 px-1 [contain-intrinsic-block-size:auto_500px] ${isDone && isLaidOut ? '[content-visibility:auto]' : ''}`}
    >
      {blocksOf(text, (source) => marked.lexer(source)).map((token, at) => (
        <Block key={at} token={token} />
      ))}
    </div>
  );
});

const Block = memo(
  ({ token }: { token: Token }) => <>{block(token, 0)}</>,
  (before, after) => before.token.type === after.token.type && before.token.raw === after.token.raw,
);

function block(token: Token, depth: number): ReactNode {
  if (depth > DEEPEST) return <Wrapped text={token.raw} />;
  switch (token.type) {
    case 'space':
    case 'def':
      return null;
    case 'hr':
      return <hr className="border-line" />;
    case 'heading':
      return <Heading level={(token as Tokens.Heading).depth}>{inlines(token, depth)}</Heading>;
    case 'code':
      return <Code token={token as Tokens.Code} />;
    case 'blockquote':
      return (
        <blockquote className="flex flex-col gap-2 border-l-2 border-strong pl-3 text-ink-2">
          {all((token as Tokens.Blockquote).tokens, depth + 1)}
        </blockquote>
      );
    case 'list':
      return <List token={token as Tokens.List} depth={depth} />;
    case 'table':
      return <Table token={token as Tokens.Table} depth={depth} />;
    case 'text':
      return 'tokens' in token ? (
        <span>{inlines(token, depth)}</span>
      ) : (
        <Wrapped text={unescaped((token as Tokens.Text).text)} />
      );
    case 'paragraph':
      return <p>{inlines(token, depth)}</p>;
    default:
      // HTML and what a later version adds: as written.
      return (
        <p className="whitespace-pre-wrap">
          <Wrapped text={token.raw.trimEnd()} />
        </p>
      );
  }
}

const all = (tokens: Token[], depth: number): ReactNode =>
  tokens.map((token, at) => <Keyed key={at}>{block(token, depth)}</Keyed>);

const Keyed = ({ children }: { children: ReactNode }) => <>{children}</>;

const SIZES = ['text-19', 'text-15', 'text-13'];

/** Below the page's own headings. */
function Heading({ level, children }: { level: number; children: ReactNode }) {
  const Tag = `h${Math.min(6, level + 2)}` as 'h3';
  return <Tag className={`pt-1 font-bold ${SIZES[level - 1] ?? 'text-13'}`}>{children}</Tag>;
}

function Code({ token: { text, lang } }: { token: Tokens.Code }) {
  const name = (lang ?? '').trim();
  return (
    <div className="rounded border border-line bg-sunk">
      <div className="flex min-h-7 items-center justify-between gap-2 pl-2">
        <span className="label long">
          <Plain text={name || 'text'} />
        </span>
        <CopyButton text={text} label="Copy the code" />
      </div>
      {/* Agents quote what commands wrote, with its colours. */}
      <AnsiView text={text} label={name ? `Code, ${name}` : 'Code'} />
    </div>
  );
}

function List({ token: { ordered, start, items }, depth }: { token: Tokens.List; depth: number }) {
  const rows = items.map((item, at) => (
    <li key={at} className={item.task ? 'list-none' : ''}>
      {item.task && (
        <span role="img" aria-label={item.checked ? 'done' : 'open'} className="mr-1.5 font-mono">
          {item.checked ? '☑' : '☐'}
        </span>
      )}
      {all(
        item.tokens.filter(({ type }) => type !== 'checkbox'),
        depth + 1,
      )}
    </li>
  ));
  if (!ordered) return <ul className="flex list-disc flex-col gap-1 pl-5">{rows}</ul>;
  return (
    <ol className="flex list-decimal flex-col gap-1 pl-6" start={start === '' ? 1 : start}>
      {rows}
    </ol>
  );
}

function Table({ token: { header, rows, align }, depth }: { token: Tokens.Table; depth: number }) {
  const side = (at: number) =>
    align[at] === 'right' ? 'text-right' : align[at] === 'center' ? 'text-center' : '';
  return (
    <div tabIndex={0} role="region" aria-label="Table" className="overflow-x-auto">
      <table className="border-collapse">
        <thead>
          <tr>
            {header.map((cell, at) => (
              <th key={at} className={`border-b border-strong px-2 py-1 text-left font-bold ${side(at)}`}>
                {inlines(cell, depth)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, line) => (
            <tr key={line}>
              {row.map((cell, at) => (
                <td key={at} className={`border-b border-line px-2 py-1 ${side(at)}`}>
                  {inlines(cell, depth)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const inlines = (token: object, depth: number): ReactNode =>
  ((token as { tokens?: Token[] }).tokens ?? []).map((one, at) => (
    <Keyed key={at}>{inline(one, depth + 1)}</Keyed>
  ));

function inline(token: Token, depth: number): ReactNode {
  if (depth > DEEPEST) return <Wrapped text={token.raw} />;
  switch (token.type) {
    case 'text':
      return 'tokens' in token && token.tokens ? (
        inlines(token, depth)
      ) : (
        <Wrapped text={unescaped((token as Tokens.Text).text)} />
      );
    case 'escape':
      return <Wrapped text={(token as Tokens.Escape).text} />;
    case 'strong':
      return <strong className="font-bold">{inlines(token, depth)}</strong>;
    case 'em':
      return <em>{inlines(token, depth)}</em>;
    case 'del':
      return <del>{inlines(token, depth)}</del>;
    case 'br':
      return <br />;
    case 'codespan':
      return (
        <code className="rounded bg-sunk px-1 font-mono text-mono">
          <Wrapped text={(token as Tokens.Codespan).text} />
        </code>
      );
    case 'link':
      return <Outside href={(token as Tokens.Link).href}>{inlines(token, depth)}</Outside>;
    case 'image':
      return (
        <Outside href={(token as Tokens.Image).href}>
          <Wrapped text={`image: ${(token as Tokens.Image).text || (token as Tokens.Image).href}`} />
        </Outside>
      );
    default:
      return <Wrapped text={token.raw} />;
  }
}

/** A link out of the console. One with another scheme is shown as its text and its address. */
function Outside({ href, children }: { href: string; children: ReactNode }) {
  const safe = safeHref(href);
  if (safe === null)
    return (
      <span>
        {children}{' '}
        <span className="text-ink-3">
          (<Wrapped text={href} />)
        </span>
      </span>
    );
  return (
    <a href={safe} title={safe} target="_blank" rel="noopener noreferrer" className="link">
      {children}
    </a>
  );
}
