/** Where messages are written. What is typed or attached stays until the service has it. */
import type { Run } from '@headrace/client';
import { useQueryClient } from '@tanstack/react-query';
import { Paperclip } from 'lucide-react';
import { lazy, Suspense, useEffect, useRef, useState } from 'react';
import { client } from '../../api/client.ts';
import { fieldFault } from '../../api/faults.ts';
import { newKey } from '../../api/pending.ts';
import { useMay, useSession } from '../../api/session.ts';
import { isAnswered, useOffReason, useWrite } from '../../api/write.ts';
import { AsCode, quoted } from '../../ui/as-code.tsx';
import { Button, IconButton } from '../../ui/button.tsx';
import { keyLabel, useKeys } from '../../ui/keys.ts';
import { Chips } from './chips.tsx';
import { faultOfFiles, faultOfText, mediaTypeOf, outcomeOf } from './composer-rules.ts';
import { callOf, pathOf, useThread } from './context.ts';
import { base64Of, EMPTY, useKept } from './kept.ts';
import type { Kept, KeptMessage } from './kept.ts';

// Lists of choices are a large part of the page, and it is read before it is written to.
const ModelChoice = lazy(async () => ({ default: (await import('./model-choice.tsx')).ModelChoice }));

export function Composer({ runs }: { runs: Run[] }) {
  const place = useThread();
  const { appId, threadId, thread } = place;
  const { user } = useSession();
  const queries = useQueryClient();
  const kept = useKept(`${user.id} ${threadId}`);
  const { message, isReady, change } = kept;
  const [fileFault, setFileFault] = useState<string | null>(null);
  const [isOver, setOver] = useState(false);
  const field = useRef<HTMLTextAreaElement>(null);
  const send = useSend(kept, () => {
    void queries.invalidateQueries({ queryKey: ['app', appId, 'thread', threadId] });
  });
  const outcome = outcomeOf({ thread, runs, modelId: message.modelId });
  const mayWrite = useMay('thread:update');
  const offline = useOffReason();
  const textFault = faultOfText(message.content);
  const offBecause =
    (!mayWrite && 'Your role may not write messages.') ||
    (outcome.kind === 'refused' && outcome.text) ||
    offline ||
    textFault;
  const submit = () => {
    if (offBecause || send.isSending) return field.current?.focus();
    const sendKey = message.sendKey ?? newKey();
    change({ sendKey });
    send.send({ ...message, sendKey });
  };
  const addFiles = (files: File[]) => {
    const sized = message.files.map(({ name, blob }) => ({ name, size: blob.size }));
    const fault = faultOfFiles(sized, files);
    setFileFault(fault);
    if (fault !== null || files.length === 0) return;
    const added = files.map((file) => ({
      id: newKey(),
      name: file.name,
      type: mediaTypeOf(file.type),
      blob: file,
    }));
    change({ files: [...message.files, ...added] });
  };
  useKeys([{ keys: 'c', does: 'Write a message', run: () => field.current?.focus() }]);
  useEffect(() => {
    if (field.current) grow(field.current);
  }, [message.content]);
  const { fault } = send;
  const tooLong = message.content.trim() !== '' ? textFault : null;
  const shownFault =
    fileFault ??
    tooLong ??
    fieldFault(fault, '/content') ??
    (fault ? `${fault.title}. ${fault.message}` : null);
  return (
    <form
      aria-label="Write a message"
      className={`flex shrink-0 flex-col gap-2 border-t border-strong bg-surface px-4 py-2 ${isOver ? 'outline-2 outline-water' : ''}`}
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
      onDragOver={(event) => {
        if (!event.dataTransfer.types.includes('Files')) return;
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        addFiles([...event.dataTransfer.files]);
      }}
    >
      <Chips
        files={message.files}
        faultOf={(at) =>
          fault?.fields.find(({ path }) => path.startsWith(`/attachments/${at}/`))?.message ?? null
        }
        onRemove={(id) => change({ files: message.files.filter((file) => file.id !== id) })}
      />
      <textarea
        ref={field}
        aria-label="Message"
        aria-describedby="composer-outcome composer-fault"
        aria-invalid={shownFault !== null}
        rows={2}
        readOnly={!isReady}
        value={message.content}
        placeholder="Say what to do, or drop files here"
        className="input max-h-[40vh] resize-none"
        onChange={(event) => change({ content: event.target.value })}
        onPaste={(event) => {
          const files = [...event.clipboardData.files];
          if (files.length === 0) return;
          event.preventDefault();
          addFiles(files);
        }}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || !(event.metaKey || event.ctrlKey) || event.nativeEvent.isComposing)
            return;
          event.preventDefault();
          submit();
        }}
      />
      <p
        id="composer-fault"
        role="alert"
        className={shownFault === null ? 'sr-only' : 'long text-12 text-fail'}
      >
        {shownFault}
        {fault?.requestId && shownFault ? ` Request ${fault.requestId}.` : ''}
      </p>
      <div className="flex flex-wrap items-center gap-2">
        <FileButton onFiles={addFiles} />
        <Suspense fallback={<span className="inline-block h-7 w-28 rounded border border-line" />}>
          <ModelChoice
            value={message.modelId}
            ofThread={thread.modelId}
            onChange={(modelId) => change({ modelId })}
          />
        </Suspense>
        <span
          id="composer-outcome"
          aria-live="polite"
          className="long flex-1 text-12 text-ink-3 max-sm:order-first max-sm:basis-full"
        >
          {outcome.text}
        </span>
        <span className="ml-auto flex items-center">
          <AsCode
            method="POST"
            path={pathOf(place, '/messages')}
            body={shownBody(message)}
            ts={callOf('messages.send', place, shownBody(message))}
            cli={`headrace send ${threadId} ${quoted(message.content.slice(0, 2_000))}`}
          />
          <Button kind="primary" type="submit" isDisabled={send.isSending} offBecause={offBecause}>
            {send.isSending ? 'Sending' : 'Send'}
            <kbd className="hidden font-mono text-11 sm:inline">
              {keyLabel('mod+Enter').replace('Enter', '↵')}
            </kbd>
          </Button>
        </span>
      </div>
    </form>
  );
}

/** One key per text: a repeated send, also after a reload, has one effect. */
function useSend({ settle }: Kept, onDone: () => void) {
  const { appId, threadId } = useThread();
  return useWrite({
    intent: `send ${threadId}`,
    call: async ({ content, modelId, files, sendKey }: KeptMessage & { sendKey: string }, options) => {
      const attachments = await Promise.all(
        files.map(async ({ type, blob }) => ({ mediaType: type, data: await base64Of(blob) })),
      );
      try {
        return await client.messages.send(
          appId,
          threadId,
          { content, ...(modelId !== null && { modelId }), ...(attachments.length > 0 && { attachments }) },
          { ...options, idempotencyKey: sendKey },
        );
      } catch (error) {
        // The service answers a key always alike: sent again, the message needs another one.
        if (isAnswered(error)) settle(sendKey, { sendKey: null });
        throw error;
      }
    },
    onDone: (_, { sendKey }) => {
      settle(sendKey, EMPTY);
      onDone();
    },
  });
}

const shownBody = ({ content, modelId, files }: KeptMessage) => ({
  content,
  ...(modelId !== null && { modelId }),
  ...(files.length > 0 && { attachments: files.map(({ type }) => ({ mediaType: type, data: '…' })) }),
});

function FileButton({ onFiles }: { onFiles: (files: File[]) => void }) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <IconButton label="Attach files" onPress={() => input.current?.click()}>
        <Paperclip size={14} />
      </IconButton>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        aria-hidden
        tabIndex={-1}
        onChange={(event) => {
          onFiles([...(event.target.files ?? [])]);
          event.target.value = '';
        }}
      />
    </>
  );
}

/** The field grows with its text, to a part of the window. Measuring a very long text costs more than it shows. */
function grow(field: HTMLTextAreaElement): void {
  field.style.height = 'auto';
  field.style.height = field.value.length > 20_000 ? '40vh' : `${field.scrollHeight + 2}px`;
}
