/** A thread as a file: all that it is as JSON, or its conversation as Markdown. */
import { useEffect, useRef, useState } from 'react';
import { client } from '../../api/client.ts';
import { faultOf } from '../../api/faults.ts';
import type { Fault } from '../../api/faults.ts';
import { useOffReason } from '../../api/write.ts';
import { Button } from '../../ui/button.tsx';
import { Choices } from '../../ui/choices.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { FaultLine } from '../../ui/fault-line.tsx';
import { CopyButton } from '../../ui/values.tsx';
import { saveFile } from '../../ui/save-file.ts';
import { useThread } from './context.ts';

const FORMATS = [
  { id: 'markdown', text: 'Markdown' },
  { id: 'json', text: 'JSON' },
];
/** A long thread takes its time. */
const TIMEOUT_MS = 120_000;

export function Export({ onClose }: { onClose: () => void }) {
  const { threadId } = useThread();
  const [format, setFormat] = useState('markdown');
  const [isReading, setReading] = useState(false);
  const [fault, setFault] = useState<Fault | null>(null);
  const off = useOffReason();
  const running = useRef<AbortController | null>(null);
  useEffect(() => () => running.current?.abort(), []);
  const save = async () => {
    const { signal } = (running.current = new AbortController());
    const options = { signal, timeoutMs: TIMEOUT_MS };
    setReading(true);
    setFault(null);
    try {
      if (format === 'json') {
        const read = await client.threads.export(threadId, options);
        if (signal.aborted) return;
        const text = JSON.stringify({ ok: true, export: read }, null, 2);
        saveFile(`${threadId}.json`, new Blob([text], { type: 'application/json' }));
      } else {
        const text = await client.threads.export(threadId, { format: 'markdown', ...options });
        if (signal.aborted) return;
        saveFile(`${threadId}.md`, new Blob([text], { type: 'text/markdown' }));
      }
      onClose();
    } catch (error) {
      setFault(faultOf(error));
    } finally {
      setReading(false);
    }
  };
  const command = `headrace thread export ${threadId} --format ${format} -o ${threadId}.${format === 'json' ? 'json' : 'md'}`;
  return (
    <Dialog title="Export the thread" isOpen onClose={onClose}>
      <Choices
        label="Format"
        choices={FORMATS}
        value={format}
        onChange={setFormat}
        hint={
          format === 'json'
            ? 'The thread with its messages, runs, tools, checkpoints and pull requests.'
            : 'What was said and done, to read.'
        }
      />
      <div className="flex items-center gap-1">
        <code className="long flex-1 rounded bg-sunk p-2 font-mono text-mono">{command}</code>
        <CopyButton text={command} label="Copy the command" />
      </div>
      <FaultLine fault={fault} />
      <div className="flex items-center justify-end gap-2">
        <Button onPress={onClose}>Cancel</Button>
        <Button kind="primary" isPending={isReading} offBecause={off} onPress={() => void save()}>
          Save the file
        </Button>
      </div>
    </Dialog>
  );
}
