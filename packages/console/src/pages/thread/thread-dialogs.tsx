/** Dialogs that change a thread's title and spend limit. */
import type { Thread, UpdateThreadInput } from '@headrace/client';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { fieldFault } from '../../api/faults.ts';
import { useOffReason } from '../../api/write.ts';
import type { Write } from '../../api/write.ts';
import { quoted } from '../../ui/as-code.tsx';
import { Button } from '../../ui/button.tsx';
import { FaultLine } from '../../ui/fault-line.tsx';
import { Field } from '../../ui/fields.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { useThread } from './context.ts';
import { Sample } from './sample.tsx';
import { limitOf, limitText } from './spend.ts';

interface FormProps {
  update: Write<UpdateThreadInput, Thread>;
  onClose: () => void;
}

/** Another title. */
export function Rename({ update, onClose }: FormProps) {
  const { thread, threadId } = useThread();
  const [title, setTitle] = useState(thread.title ?? '');
  // Seen when the dialog was opened: a title that someone else gave since is not overwritten.
  const [expectedTitleVersion] = useState(thread.titleVersion);
  const body = { title: title.trim() || null, expectedTitleVersion };
  return (
    <Form
      title="Rename the thread"
      verb="Rename"
      update={update}
      body={body}
      onClose={onClose}
      cli={`headrace thread update ${threadId} --title ${quoted(title)}`}
    >
      <Field
        label="Title"
        autoFocus
        maxLength={500}
        value={title}
        onChange={setTitle}
        fault={fieldFault(update.fault, '/title')}
      />
    </Form>
  );
}

/** Another spend limit, or none. */
export function Limit({ update, onClose }: FormProps) {
  const { thread, threadId } = useThread();
  const [text, setText] = useState(limitText(thread.spendLimitMicros));
  const limit = limitOf(text);
  const dollars = text.trim() === '' ? '--no-spend-limit' : `--spend-limit ${text.trim()}`;
  return (
    <Form
      title="Spend limit of the thread"
      verb="Save"
      update={update}
      body={limit === undefined ? null : { spendLimitMicros: limit }}
      onClose={onClose}
      cli={`headrace thread update ${threadId} ${dollars}`}
    >
      <Field
        label="US dollars, for all of its runs together"
        hint="Empty: no limit of its own. A run that reaches the limit ends."
        autoFocus
        inputMode="decimal"
        value={text}
        onChange={setText}
        fault={
          limit === undefined
            ? 'This is no amount: write 2.50'
            : fieldFault(update.fault, '/spendLimitMicros')
        }
      />
    </Form>
  );
}

function Form({
  title,
  verb,
  update,
  body,
  cli,
  onClose,
  children,
}: FormProps & {
  title: string;
  verb: string;
  body: UpdateThreadInput | null;
  cli: string;
  children: ReactNode;
}) {
  const offBecause = useOffReason();
  return (
    <Dialog title={title} isOpen onClose={onClose}>
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          if (body && !offBecause && !update.isSending) update.send(body);
        }}
      >
        {children}
        <FaultLine fault={update.fault} at={['/title', '/spendLimitMicros']} />
        <div className="flex items-center justify-end gap-2">
          <Sample body={body} cli={cli} />
          <Button onPress={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" isDisabled={update.isSending || !body} offBecause={offBecause}>
            {verb}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
