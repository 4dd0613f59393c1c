import { useEffect, useRef, useState } from 'react';
import type { ReactNode } from 'react';
import { Button } from '../../../ui/button.tsx';
import { chosenEntries, droppedEntries } from './entries.ts';
import type { Entry } from './entries.ts';

/** Takes a folder, files or an archive that is dropped; the buttons are for who does not drag. */
export function DropZone({
  onEntries,
  takesArchives = true,
  children,
}: {
  onEntries: (entries: readonly Entry[]) => void;
  takesArchives?: boolean;
  children: ReactNode;
}) {
  const [isOver, setOver] = useState(false);
  useDropsElsewhere();
  return (
    <div
      onDragOver={(event) => {
        event.preventDefault();
        event.dataTransfer.dropEffect = 'copy';
        setOver(true);
      }}
      onDragLeave={(event) => {
        if (!event.currentTarget.contains(event.relatedTarget as Node | null)) setOver(false);
      }}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        onEntries(droppedEntries(event.dataTransfer));
      }}
      className={`flex flex-col items-start gap-3 rounded border border-dashed p-6 ${isOver ? 'border-water bg-water-wash' : 'border-strong bg-surface'}`}
    >
      {children}
      <div className="flex flex-wrap gap-2">
        <Chooser label="Choose a folder" kind="primary" isFolder onEntries={onEntries} />
        {takesArchives && <Chooser label="Choose a .tar.gz" onEntries={onEntries} />}
      </div>
    </div>
  );
}

function Chooser({
  label,
  kind = 'plain',
  isFolder = false,
  onEntries,
}: {
  label: string;
  kind?: 'plain' | 'primary';
  isFolder?: boolean;
  onEntries: (entries: readonly Entry[]) => void;
}) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <Button kind={kind} onPress={() => input.current?.click()}>
        {label}
      </Button>
      <input
        ref={input}
        type="file"
        hidden
        aria-label={label}
        {...(isFolder ? { webkitdirectory: '' } : { accept: '.gz,.tgz,application/gzip' })}
        onChange={({ target }) => {
          const files = [...(target.files ?? [])];
          // The same choice again is a change, too.
          target.value = '';
          if (files.length > 0) onEntries(chosenEntries(files));
        }}
      />
    </>
  );
}

/** Beside the zone, a drop would replace the page by the file. */
function useDropsElsewhere(): void {
  useEffect(() => {
    const ignore = (event: DragEvent) => {
      if (event.defaultPrevented) return;
      event.preventDefault();
      if (event.dataTransfer) event.dataTransfer.dropEffect = 'none';
    };
    window.addEventListener('dragover', ignore);
    window.addEventListener('drop', ignore);
    return () => {
      window.removeEventListener('dragover', ignore);
      window.removeEventListener('drop', ignore);
    };
  }, []);
}
