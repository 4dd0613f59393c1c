/** Rename, spend limit, archive, delete. */
import type { UpdateThreadInput } from '@headrace/client';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Ellipsis } from 'lucide-react';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { client } from '../../api/client.ts';
import { fieldFault } from '../../api/faults.ts';
import type { Fault } from '../../api/faults.ts';
import { threadQuery } from '../../api/queries.ts';
import { useMay } from '../../api/session.ts';
import { useOffReason, useWrite } from '../../api/write.ts';
import { AsCode, quoted } from '../../ui/as-code.tsx';
import { Button } from '../../ui/button.tsx';
import { Field } from '../../ui/fields.tsx';
import { notify } from '../../ui/notices.tsx';
import { Confirm, Dialog, Menu } from '../../ui/overlays.tsx';
import { callOf, pathOf, useThread } from './context.ts';
import { useFaultNotice } from './run-actions.tsx';
import { limitOf, limitText } from './spend.ts';

type Over = 'rename' | 'limit' | 'archive' | 'delete' | null;

export function ThreadMenu({
  isReadOut,
  onReadOut,
}: {
  isReadOut: boolean;
  onReadOut: (on: boolean) => void;
}) {
  const place = useThread();
  const { appId, threadId, thread } = place;
  const [over, setOver] = useState<Over>(null);
  const close = () => setOver(null);
  const offline = useOffReason();
  const mayChange = useMay('thread:update');
  const mayDelete = useMay('thread:delete');
  const navigate = useNavigate();
  const update = useUpdate(close);
  const remove = useWrite({
    intent: `delete ${threadId}`,
    call: (_: null, options) => client.threads.delete(appId, threadId, options),
    onDone: () => {
      notify('The thread is deleted. Its sources stay.');
      void navigate({ to: '/apps/$appId', params: { appId } });
    },
  });
  useFaultNotice(remove.fault);
  useFaultNotice(over === null ? update.fault : null);
  const isArchived = thread.archivedAt !== null;
  const say = (what: Over, allowed: boolean) => () => {
    if (!allowed) notify('Your role may not do this.', 'fail');
    else if (offline) notify(offline, 'fail');
    else {
      update.reset();
      setOver(what);
    }
  };
  const unarchive = () => (offline ? notify(offline, 'fail') : update.send({ archived: false }));
  return (
    <>
      <Menu
        label="More about this thread"
        icon={<Ellipsis size={14} />}
        kind="quiet"
        items={[
          { id: 'rename', text: 'Rename', onAction: say('rename', mayChange) },
          { id: 'limit', text: 'Spend limit', onAction: say('limit', mayChange) },
          {
            id: 'read',
            text: isReadOut ? 'Do not read replies out' : 'Read replies out',
            onAction: () => onReadOut(!isReadOut),
          },
          isArchived
            ? { id: 'archive', text: 'Take out of the archive', onAction: unarchive }
            : { id: 'archive', text: 'Archive', onAction: say('archive', mayChange) },
          { id: 'delete', text: 'Delete', isDanger: true, onAction: say('delete', mayDelete) },
        ]}
      />
      {over === 'rename' && <Rename update={update} onClose={close} />}
      {over === 'limit' && <Limit update={update} onClose={close} />}
      <Confirm
        title="Archive the thread"
        verb="Archive"
        isOpen={over === 'archive'}
        onClose={close}
        onConfirm={() => update.send({ archived: true })}
      >
        <p>
          Its runs, its queued apply and its build end, and its workspace is saved and ended. Nothing is lost:
          it can be taken out of the archive.
        </p>
        <Sample body={{ archived: true }} cli={`headrace thread archive ${threadId}`} />
      </Confirm>
      <Confirm
        title="Delete the thread"
        verb="Delete"
        isOpen={over === 'delete'}
        onClose={close}
        onConfirm={() => remove.send(null)}
      >
        <p>
          Its messages, runs and approvals are deleted for good, and what runs is ended. Its sources stay.
        </p>
        <AsCode
          method="DELETE"
          path={pathOf(place)}
          ts={callOf('threads.delete', place)}
          cli={`headrace thread rm ${threadId}`}
        />
      </Confirm>
    </>
  );
}

interface Update {
  send: (body: UpdateThreadInput) => void;
  isSending: boolean;
  fault: Fault | null;
  reset: () => void;
}

function useUpdate(onDone: () => void): Update {
  const { appId, threadId, thread } = useThread();
  const queries = useQueryClient();
  return useWrite({
    intent: `update ${threadId} ${thread.version}`,
    call: (body: UpdateThreadInput, options) => client.threads.update(appId, threadId, body, options),
    onDone: (changed) => {
      queries.setQueryData(threadQuery(appId, threadId).queryKey, changed);
      onDone();
    },
  });
}

function Sample({ body, cli }: { body: unknown; cli: string }) {
  const place = useThread();
  return (
    <AsCode
      method="PATCH"
      path={pathOf(place)}
      body={body}
      ts={callOf('threads.update', place, body)}
      cli={cli}
    />
  );
}

interface FormProps {
  update: Update;
  onClose: () => void;
}

function Rename({ update, onClose }: FormProps) {
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

function Limit({ update, onClose }: FormProps) {
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
        {update.fault && update.fault.fields.length === 0 && (
          <p role="alert" className="text-fail">
            {update.fault.title}. {update.fault.message}
          </p>
        )}
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
