/** Files that go with the message that is written. */
import { FileText, X } from 'lucide-react';
import { useEffect, useState } from 'react';
import { Plain } from '../../code/plain.tsx';
import { IconButton } from '../../ui/button.tsx';
import { bytes } from '../../ui/values.tsx';
import type { KeptFile } from './kept.ts';

export function Chips({
  files,
  faultOf,
  onRemove,
}: {
  files: KeptFile[];
  faultOf: (at: number) => string | null;
  onRemove: (id: string) => void;
}) {
  if (files.length === 0) return null;
  return (
    <ul aria-label="Files to send" className="flex max-h-32 flex-wrap gap-2 overflow-auto">
      {files.map((file, at) => {
        const fault = faultOf(at);
        return (
          <li
            key={file.id}
            className={`flex max-w-full items-center gap-2 rounded border pl-1 ${fault === null ? 'border-line' : 'border-fail'}`}
          >
            <Picture file={file} />
            <span className="max-w-48 truncate" title={file.name}>
              <Plain text={file.name} />
            </span>
            <span className="text-12 whitespace-nowrap text-ink-3">{bytes(file.blob.size)}</span>
            {fault !== null && <span className="long text-12 text-fail">{fault}</span>}
            <IconButton label={`Remove ${file.name}`} onPress={() => onRemove(file.id)}>
              <X size={14} />
            </IconButton>
          </li>
        );
      })}
    </ul>
  );
}

const PICTURES = /^image\/(png|jpeg|gif|webp|avif)$/;

/** The user's own picture; nothing that can hold a script is drawn. */
function Picture({ file: { type, blob } }: { file: KeptFile }) {
  const [url, setUrl] = useState<string | null>(null);
  useEffect(() => {
    if (!PICTURES.test(type)) return;
    const made = URL.createObjectURL(blob);
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [type, blob]);
  return url === null ? (
    <FileText size={14} aria-hidden className="m-1 text-ink-3" />
  ) : (
    <img src={url} alt="" className="size-7 rounded object-cover" />
  );
}
