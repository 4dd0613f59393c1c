/** What base, head and draft have at a path: beside each other where there is room, else one of them. */
import './conflict.css';
import type { ConflictFile, ConflictSide } from '@headrace/client';
import { useState } from 'react';
import { CodeView } from '../../code/index.ts';
import type { Lines } from '../../code/index.ts';
import { Toggle } from '../../ui/button.tsx';
import { Status } from '../../ui/status.tsx';
import { CopyButton, bytes } from '../../ui/values.tsx';
import type { Conflict, Side } from './decisions.ts';
import { SIDES, hasText, imageOf, linesOn, sizeWord } from './words.ts';
import type { SideName } from './words.ts';

const LINE = 20;
const LEAST = 5;
const MOST = 18;

export function Sides({
  file,
  conflict,
  taken,
  place,
}: {
  file: ConflictFile;
  conflict: Conflict;
  taken: Side | null;
  /** Of its places in conflict, the one to show. */
  place: number;
}) {
  const [tab, setTab] = useState<SideName>('head');
  const height = heightOf(file);
  return (
    <section aria-label="The three sides">
      <div className="flex gap-1 px-4 pb-2 lg:hidden" role="group" aria-label="Side">
        {SIDES.map((name) => (
          <Toggle key={name} isSelected={tab === name} onChange={() => setTab(name)}>
            {NAMES[name]}
          </Toggle>
        ))}
      </div>
      <div className="grid border-y border-line lg:grid-cols-3 lg:divide-x lg:divide-line">
        {SIDES.map((name) => (
          <div key={name} data-side={name} className={`min-w-0 ${tab === name ? '' : 'max-lg:hidden'}`}>
            <div className="flex min-h-9 items-center gap-2 border-b border-line px-4">
              <h3 className="font-bold">{NAMES[name]}</h3>
              <span className="long text-12 text-ink-3">{sizeWord(file[name], name)}</span>
              {taken === name && (
                <span className="ml-auto text-12">
                  <Status status="ready" word="taken" />
                </span>
              )}
            </div>
            <div style={{ height }} className="overflow-auto">
              <Contents
                path={file.path}
                side={file[name]}
                lines={linesOn(name, conflict.hunks?.[place], file)}
              />
            </div>
          </div>
        ))}
      </div>
    </section>
  );
}

const NAMES: Record<SideName, string> = { base: 'Base', head: 'Head', draft: 'Draft' };

function heightOf(file: ConflictFile): number {
  if (!hasText(file)) return file.kind === 'binary' ? 240 : 72;
  const counts = SIDES.map((name) => file[name]?.content?.split('\n', MOST + 1).length ?? 0);
  return Math.min(MOST, Math.max(LEAST, ...counts)) * LINE + 16;
}

function Contents({ path, side, lines }: { path: string; side: ConflictSide | null; lines: Lines | null }) {
  if (!side) return <p className="px-4 py-2 text-ink-3">No file at this path.</p>;
  const image = imageOf(path, side);
  if (image)
    return (
      <div className="conflict-checks flex h-full items-center justify-center p-2">
        <Picture address={image} side={side} />
      </div>
    );
  if (side.encoding === 'utf8' && side.content !== null)
    return (
      <CodeView path={path} text={side.content} sha256={side.sha256} selected={lines} className="h-full" />
    );
  return <Hash side={side} />;
}

/** Not each file with an image's name is one. */
function Picture({ address, side }: { address: string; side: ConflictSide }) {
  const [isBroken, setBroken] = useState(false);
  if (isBroken) return <Hash side={side} note="Not an image that can be shown." />;
  return (
    <img
      src={address}
      alt=""
      onError={() => setBroken(true)}
      className="max-h-full max-w-full object-contain"
    />
  );
}

function Hash({ side, note }: { side: ConflictSide; note?: string }) {
  return (
    <dl className="grid grid-cols-[max-content_minmax(0,1fr)] gap-x-3 gap-y-1 bg-paper px-4 py-2">
      {note && <dd className="col-span-2 text-ink-2">{note}</dd>}
      <dt className="text-ink-3">Size</dt>
      <dd>{bytes(side.byteSize)}</dd>
      <dt className="text-ink-3">SHA-256</dt>
      <dd className="flex min-w-0 items-center font-mono text-mono">
        <span className="whitespace-nowrap">{side.sha256.slice(0, 12)}…</span>
        <CopyButton text={side.sha256} label="Copy the hash" />
      </dd>
    </dl>
  );
}
