/** One row of the conversation: who on the left, what on the right. */
import type { Message } from '@headrace/client';
import { Paperclip } from 'lucide-react';
import { lazy, memo } from 'react';
import type { ReactNode } from 'react';
import { useDraft } from '../../live/index.ts';
import { client } from '../../api/client.ts';
import { faultOf } from '../../api/faults.ts';
import { Button } from '../../ui/button.tsx';
import { notify } from '../../ui/notices.tsx';
import { bytes, Time } from '../../ui/values.tsx';
import { saveFile } from '../../ui/save-file.ts';
import { useThread } from './context.ts';
import { LongText } from './long-text.tsx';

// On its way with the conversation itself (thread-page.tsx), which is shown when both are there.
const Markdown = lazy(async () => ({ default: (await import('./markdown.tsx')).Markdown }));

/** More of a reply in progress is not shown than this end of it. */
const DRAFT_LENGTH = 100_000;

export function Row({ side, children }: { side: ReactNode; children: ReactNode }) {
  return (
    <div className="grid gap-x-4 gap-y-1 px-4 py-3 md:grid-cols-[80px_minmax(0,1fr)]">
      <div className="flex items-baseline gap-2 text-12 text-ink-3 md:flex-col md:gap-0">{side}</div>
      <div className="flex max-w-[88ch] min-w-0 flex-col gap-2">{children}</div>
    </div>
  );
}

const ROLES: Record<string, string> = { user: 'User', assistant: 'Assistant', system: 'System' };

export const MessageEntry = memo(({ message }: { message: Message }) => (
  <Row
    side={
      <>
        <span className={`font-bold md:leading-5 ${message.role === 'user' ? 'text-ink' : 'text-water'}`}>
          {ROLES[message.role] ?? message.role}
        </span>
        <Time at={message.createdAt} />
      </>
    }
  >
    <LongText text={message.content}>{(shown) => <Markdown text={shown} />}</LongText>
    {message.attachments.length > 0 && (
      <ul aria-label="Attachments" className="flex flex-wrap gap-2">
        {message.attachments.map((attachment) => (
          <li key={attachment.index}>
            <Attachment messageId={message.id} threadId={message.threadId} {...attachment} />
          </li>
        ))}
      </ul>
    )}
  </Row>
));

/** Files of others are saved, not opened. */
function Attachment({
  messageId,
  threadId,
  index,
  mediaType,
  byteSize,
}: { messageId: string; threadId: string } & Message['attachments'][number]) {
  const { appId } = useThread();
  const save = async () => {
    try {
      const data = await client.messages.attachment(appId, threadId, messageId, index);
      const name = `attachment-${index + 1}.${/\w+$/.exec(mediaType)?.[0] ?? 'bin'}`;
      saveFile(name, new Blob([data.slice()], { type: 'application/octet-stream' }));
    } catch (error) {
      notify(`The attachment was not read. ${faultOf(error).message}`, 'fail');
    }
  };
  return (
    <Button onPress={() => void save()} aria-label={`Save attachment ${index + 1}, ${mediaType}`}>
      <Paperclip size={12} aria-hidden />
      <span className="font-mono text-mono">{mediaType}</span>
      <span className="text-ink-3">{bytes(byteSize)}</span>
    </Button>
  );
}

/** The reply in progress: each revision takes the place of the last one. */
export function DraftEntry() {
  const draft = useDraft(useThread(), true);
  const text = draft?.content ?? '';
  const isCut = text.length > DRAFT_LENGTH;
  return (
    <Row
      side={
        <>
          <span className="font-bold text-water md:leading-5">Assistant</span>
          <span>writes</span>
        </>
      }
    >
      {isCut && <p className="text-12 text-ink-3">The beginning is shown when the reply is complete.</p>}
      {/* A cut moves all that is shown. */}
      <Markdown text={isCut ? text.slice(-DRAFT_LENGTH) : text} isGrowing={!isCut} />
    </Row>
  );
}
