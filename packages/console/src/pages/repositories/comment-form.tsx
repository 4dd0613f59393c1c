import type { ScmCreateCommentInput } from '@headrace/client';
import { useQueryClient } from '@tanstack/react-query';
import { client } from '../../api/client.ts';
import { fieldFault } from '../../api/faults.ts';
import { commentsQuery } from '../../api/repositories-queries.ts';
import { useOffReason, useWrite } from '../../api/write.ts';
import { AsCode, quoted } from '../../ui/as-code.tsx';
import { Button } from '../../ui/button.tsx';
import { FaultLine } from '../../ui/fault-line.tsx';
import { Field } from '../../ui/fields.tsx';
import { useKept } from '../../ui/kept.ts';
import { worded } from './words.ts';

const NOTHING = { body: '', path: '', line: '' };
const SHOWN = ['/body', '/path', '/line'];

/** A new review thread, or a reply in one. */
export function CommentForm({
  repositoryId,
  number,
  inReplyTo,
  onClose,
}: {
  repositoryId: string;
  number: string;
  inReplyTo: string | null;
  onClose?: () => void;
}) {
  const [typed, setTyped] = useKept(`comment ${repositoryId} ${number} ${inReplyTo ?? 'new'}`, NOTHING);
  const queries = useQueryClient();
  const off = useOffReason();
  const set = (change: Partial<typeof typed>) => setTyped({ ...typed, ...change });
  const isReply = inReplyTo !== null;
  const [text, path, line] = [typed.body.trim(), typed.path.trim(), typed.line.trim()];
  const isNoLine = line !== '' && !/^[1-9]\d{0,8}$/.test(line);
  const body: ScmCreateCommentInput = {
    body: text,
    ...(isReply ? { inReplyTo } : { ...(path && { path }), ...(path && line && { line: Number(line) }) }),
  };
  const write = useWrite({
    intent: `comment on ${number} of ${repositoryId}`,
    call: (input: ScmCreateCommentInput, options) =>
      worded(client.scm.createComment(repositoryId, number, input, options)),
    onDone: () => {
      setTyped(NOTHING);
      void queries.invalidateQueries({ queryKey: commentsQuery(repositoryId, number).queryKey });
      onClose?.();
    },
  });
  const offBecause =
    off ??
    (text === ''
      ? 'Write the comment first.'
      : isNoLine
        ? 'The line is a number from 1 on.'
        : line && !path
          ? 'A line needs the file that it is in.'
          : null);
  return (
    <form
      className="flex flex-col gap-3"
      onSubmit={(event) => {
        event.preventDefault();
        if (!offBecause && !write.isSending) write.send(body);
      }}
    >
      <Field
        label={isReply ? 'Reply' : 'New comment'}
        hint={isReply ? undefined : 'It opens a review thread. The review loop of a thread answers it.'}
        lines={3}
        autoFocus={isReply}
        value={typed.body}
        onChange={(next) => set({ body: next })}
        fault={fieldFault(write.fault, '/body')}
        maxLength={10_000}
      />
      {!isReply && (
        <div className="grid grid-cols-[minmax(0,1fr)_96px] gap-3">
          <Field
            label="File"
            hint="Optional: without one, the comment is about the whole."
            mono
            value={typed.path}
            onChange={(next) => set({ path: next })}
            fault={fieldFault(write.fault, '/path')}
            maxLength={1024}
            placeholder="src/index.ts"
          />
          <Field
            label="Line"
            mono
            inputMode="numeric"
            value={typed.line}
            onChange={(next) => set({ line: next })}
            fault={fieldFault(write.fault, '/line') ?? (isNoLine ? 'A number.' : null)}
          />
        </div>
      )}
      <FaultLine fault={write.fault} at={SHOWN} />
      <div className="flex items-center gap-2">
        <Button type="submit" kind="primary" isPending={write.isSending} offBecause={offBecause}>
          {isReply ? 'Send the reply' : 'Comment'}
        </Button>
        {onClose && <Button onPress={onClose}>Cancel</Button>}
        <AsCode
          method="POST"
          path={`/api/source-control/scm/repositories/${repositoryId}/pull-requests/${number}/comments`}
          body={body}
          ts={`await client.scm.createComment('${repositoryId}', ${number}, ${JSON.stringify(body)});`}
          cli={`headrace comments create ${repositoryId} ${number} --body ${quoted(text)}${body.path ? ` --path ${quoted(body.path)}` : ''}${body.line ? ` --line ${body.line}` : ''}${isReply ? ` --reply ${inReplyTo}` : ''}`}
        />
      </div>
    </form>
  );
}
