/** Title, text, base branch and whether it is a draft. */
import type { UpdatePullRequestInput } from '@headrace/client';
import { Form } from 'react-aria-components/Form';
import { client } from '../../api/client.ts';
import { fieldFault } from '../../api/faults.ts';
import { quoted } from '../../ui/as-code.tsx';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Field, Switch } from '../../ui/fields.tsx';
import { notify } from '../../ui/notices.tsx';
import { useKept } from '../../ui/kept.ts';
import { PullAsCode, usePull, usePullOff, usePullWrite } from './context.tsx';
import { RefusalLine } from './refusal-line.tsx';

const FIELDS = ['/title', '/body', '/base'];
/** As the service. */
const MAX_TITLE = 256;
const MAX_BODY = 65_536;

type Typed = Partial<Record<'title' | 'body' | 'base', string> & { draft: boolean }>;
const NOTHING: Typed = {};

export function EditDialog({ onClose }: { onClose: () => void }) {
  const { appId, threadId, pull } = usePull();
  const [typed, setTyped] = useKept<Typed>(`edit ${pull.id}`, NOTHING);
  const off = usePullOff();
  const update = usePullWrite(
    'edit',
    (ids, body: UpdatePullRequestInput, options) => client.pullRequests.update(...ids, body, options),
    () => {
      setTyped(NOTHING);
      notify('Saved at the provider.');
      onClose();
    },
  );
  const values = {
    title: typed.title ?? pull.title,
    body: typed.body ?? pull.body,
    base: typed.base ?? pull.baseRef,
    draft: typed.draft ?? pull.draft,
  };
  const set = (part: Typed) => setTyped((now) => ({ ...now, ...part }));
  // What is not changed here is not sent: checks and pushes change the rest all the time.
  const body = changesOf(values, pull);
  const isSame = Object.keys(body).length === 0;
  const wrong = values.title.trim() === '' ? 'Give it a title.' : isSame ? 'Nothing is changed.' : null;
  return (
    <Dialog title="Edit the pull request" isOpen onClose={onClose}>
      <Form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          if (!off && !wrong && !update.isSending) update.send(body);
        }}
      >
        <Field
          label="Title"
          autoFocus
          maxLength={MAX_TITLE}
          value={values.title}
          onChange={(title) => set({ title })}
          fault={fieldFault(update.fault, '/title')}
        />
        <Field
          label="Text"
          lines={6}
          maxLength={MAX_BODY}
          value={values.body}
          onChange={(text) => set({ body: text })}
          fault={fieldFault(update.fault, '/body')}
        />
        <Field
          label="Base branch"
          mono
          value={values.base}
          onChange={(base) => set({ base })}
          fault={fieldFault(update.fault, '/base')}
        />
        <Switch isSelected={values.draft} onChange={(draft) => set({ draft })}>
          Draft
        </Switch>
        <RefusalLine fault={update.fault} at={FIELDS} appId={appId} threadId={threadId} />
        <div className="flex items-center justify-end gap-2">
          <PullAsCode method="PATCH" name="update" body={body} cli={cliOf(pull.number, body)} />
          <Button onPress={onClose}>Cancel</Button>
          <Button type="submit" kind="primary" isPending={update.isSending} offBecause={off ?? wrong}>
            Save
          </Button>
        </div>
      </Form>
    </Dialog>
  );
}

interface Values {
  title: string;
  body: string;
  base: string;
  draft: boolean;
}

function changesOf(
  { title, body, base, draft }: Values,
  pull: { title: string; body: string; baseRef: string; draft: boolean },
): UpdatePullRequestInput {
  return {
    ...(title.trim() !== pull.title && { title: title.trim() }),
    ...(body !== pull.body && { body }),
    ...(base.trim() !== pull.baseRef && { base: base.trim() }),
    ...(draft !== pull.draft && { draft }),
  };
}

const cliOf = (number: number, { title, body, base, draft }: UpdatePullRequestInput): string =>
  [
    `update ${number}`,
    title !== undefined && `--title ${quoted(title)}`,
    body !== undefined && `--body ${quoted(body)}`,
    base !== undefined && `--base ${quoted(base)}`,
    draft !== undefined && (draft ? '--draft' : '--ready'),
  ]
    .filter(Boolean)
    .join(' ');
