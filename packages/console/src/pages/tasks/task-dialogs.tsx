import type { Task } from '@headrace/client';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Form } from 'react-aria-components/Form';
import { client } from '../../api/client.ts';
import { fieldFault } from '../../api/faults.ts';
import { useOffReason, useWrite } from '../../api/write.ts';
import { AsCode, quoted } from '../../ui/as-code.tsx';
import { Button } from '../../ui/button.tsx';
import { FaultLine } from '../../ui/fault-line.tsx';
import { Field } from '../../ui/fields.tsx';
import { useKept } from '../../ui/kept.ts';
import { notify } from '../../ui/notices.tsx';
import { useIsMounted } from '../../ui/use-is-mounted.ts';
import { plural } from '../../ui/values.tsx';
import { readTasksAgain, useChangeTask } from './use-change.ts';

export function RenameTask({ task, onClose }: { task: Task; onClose: () => void }) {
  const [title, setTitle] = useKept(`title of ${task.id}`, task.title);
  const off = useOffReason();
  const isHere = useIsMounted();
  const change = useChangeTask(() => {
    setTitle(task.title);
    if (isHere.current) onClose();
  });
  const body = { title: title.trim() };
  const missing = body.title === '' ? 'Give it a title.' : null;
  return (
    <Form
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        if (!off && !missing && !change.isSending) change.send({ taskId: task.id, body });
      }}
    >
      <Field
        label="Title"
        value={title}
        onChange={setTitle}
        fault={fieldFault(change.fault, '/title')}
        maxLength={500}
        autoFocus
      />
      <FaultLine fault={change.fault} at={['/title']} />
      <div className="flex items-center justify-end gap-2">
        <AsCode
          method="PATCH"
          path={`/api/tasks/${task.id}`}
          body={body}
          ts={`await client.tasks.update('${task.id}', ${JSON.stringify(body)});`}
          cli={`headrace tasks update ${task.id} --title ${quoted(body.title)}`}
        />
        <Button onPress={onClose}>Cancel</Button>
        <Button type="submit" kind="primary" isPending={change.isSending} offBecause={off ?? missing}>
          Save
        </Button>
      </div>
    </Form>
  );
}

/** Asks before it deletes, then shows the board. */
export function DeleteTask({ task, onClose }: { task: Task; onClose: () => void }) {
  const { id, identifier, threadIds, projectId } = task;
  const queries = useQueryClient();
  const navigate = useNavigate();
  const off = useOffReason();
  const isHere = useIsMounted();
  const write = useWrite({
    intent: `delete task ${id}`,
    call: (_: null, options) => client.tasks.delete(id, options),
    onDone: () => {
      notify(`${identifier} is deleted.`);
      void readTasksAgain(queries);
      if (!isHere.current) return;
      onClose();
      void navigate({ to: '/tasks', search: { projectId }, replace: true });
    },
  });
  return (
    <>
      <p className="long text-ink-2">
        Nothing brings it back.{' '}
        {threadIds.length > 0 &&
          `Its ${plural(threadIds.length, 'thread')} ${threadIds.length === 1 ? 'stays' : 'stay'}, without a task.`}
      </p>
      <FaultLine fault={write.fault} />
      <div className="flex items-center justify-end gap-2">
        <AsCode
          method="DELETE"
          path={`/api/tasks/${id}`}
          ts={`await client.tasks.delete('${id}');`}
          cli={`headrace tasks delete ${id}`}
        />
        <Button onPress={onClose}>Cancel</Button>
        <Button kind="danger" isPending={write.isSending} offBecause={off} onPress={() => write.send(null)}>
          Delete the task
        </Button>
      </div>
    </>
  );
}
