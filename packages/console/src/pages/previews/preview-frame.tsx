/** A preview in a frame of its own origin, with its path, its width and a way out. */
import type { Preview } from '@headrace/client';
import { ExternalLink, RotateCw } from 'lucide-react';
import { useState } from 'react';
import { useMay } from '../../api/session.ts';
import { useOffReason } from '../../api/write.ts';
import { AsCode } from '../../ui/as-code.tsx';
import { Button, IconButton, Toggle } from '../../ui/button.tsx';
import { FaultLine } from '../../ui/fault-line.tsx';
import { Empty, Skeleton } from '../../ui/states.tsx';
import { addressOf } from './framing.ts';
import { useFraming } from './use-framing.ts';
import type { Framing } from './use-framing.ts';

/** Without `allow-top-navigation`: what runs in the frame cannot take the console away. */
const SANDBOX = 'allow-scripts allow-forms allow-same-origin allow-popups allow-modals allow-downloads';
const WIDTHS = [
  { name: 'Full', px: null },
  { name: '768', px: 768 },
  { name: '390', px: 390 },
] as const;

export function PreviewFrame({ preview, title }: { preview: Preview; title: string }) {
  const [typed, setTyped] = useState('/');
  const [path, setPath] = useState('/');
  const [round, setRound] = useState(0);
  const [width, setWidth] = useState<number | null>(null);
  const framing = useFraming(preview.projectId);
  const address = addressOf(preview.url, path);
  const isBad = addressOf(preview.url, typed) === null;
  const load = () => {
    if (isBad) return;
    setPath(typed);
    setRound(round + 1);
  };
  return (
    <div className="@container flex min-w-0 flex-1 flex-col">
      <form
        className="flex flex-wrap items-center gap-2 border-y border-line py-2 pr-4 pl-2.5"
        onSubmit={(event) => {
          event.preventDefault();
          load();
        }}
      >
        <IconButton label="Reload the preview" onPress={() => setRound(round + 1)}>
          <RotateCw size={14} />
        </IconButton>
        <input
          aria-label="Path in the preview"
          aria-invalid={isBad}
          value={typed}
          onChange={(event) => setTyped(event.target.value)}
          className="input min-w-32 flex-1 font-mono text-mono"
          spellCheck={false}
        />
        <div role="group" aria-label="Width" className="hidden items-center gap-1 @min-[600px]:flex">
          {WIDTHS.map(({ name, px }) => (
            <Toggle key={name} isSelected={width === px} onChange={() => setWidth(px)}>
              {name}
            </Toggle>
          ))}
        </div>
        {address && <OpenLink address={address} />}
      </form>
      {framing.state === 'loading' ? (
        <Skeleton lines={6} />
      ) : framing.state === 'forbidden' ? (
        <Forbidden framing={framing} preview={preview} address={address} />
      ) : (
        address && (
          <>
            <div className="flex min-h-0 flex-1 justify-center overflow-x-auto bg-sunk">
              <iframe
                key={round}
                title={title}
                src={address}
                sandbox={SANDBOX}
                referrerPolicy="no-referrer"
                className="h-[max(400px,calc(100dvh-260px))] w-full shrink-0 bg-[#fff]"
                style={{ maxWidth: width ?? undefined }}
              />
            </div>
            {framing.state !== 'allowed' && (
              <p className="px-4 py-1 text-12 text-ink-3">
                Blank? The preview itself may forbid frames. It opens in a tab of its own all the same.
              </p>
            )}
          </>
        )
      )}
    </div>
  );
}

function OpenLink({ address }: { address: string }) {
  return (
    <a className="button" data-kind="plain" href={address} target="_blank" rel="noopener noreferrer">
      <ExternalLink size={14} aria-hidden />
      Open
    </a>
  );
}

function Forbidden({
  framing,
  preview,
  address,
}: {
  framing: Framing;
  preview: Preview;
  address: string | null;
}) {
  const { allow, wanted } = framing;
  const may = useMay('project:update');
  const off = useOffReason();
  const body = { preview: { frameAncestors: wanted } };
  return (
    <Empty title="These previews are not shown in this console">
      <p>
        The settings name the sites that may show previews in a frame, and {location.origin} is not one of
        them. The preview itself runs: it opens in a tab of its own.
      </p>
      {!may && <p>Who may change the settings can allow this console.</p>}
      <FaultLine fault={allow.fault} />
      <div className="flex flex-wrap items-center gap-2">
        {address && <OpenLink address={address} />}
        {may && (
          <>
            <Button
              kind="primary"
              isPending={allow.isSending}
              offBecause={off}
              onPress={() => allow.send(wanted)}
            >
              Allow this console
            </Button>
            <AsCode
              method="PATCH"
              path={`/api/platform/v1/apps/${preview.projectId}/settings`}
              body={body}
              ts={`client.settings.update('${preview.projectId}', ${JSON.stringify(body)})`}
            />
          </>
        )}
      </div>
    </Empty>
  );
}
