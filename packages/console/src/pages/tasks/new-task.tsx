import type { CreateTaskInput } from '@headrace/client';
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
import { ProjectSelect } from './project-select.tsx';
import { readTasksAgain } from './use-change.ts';

const NOTHING = { projectId: null as string | null, title: '', url: '' };

/** Opens the new task. `projectId`: the one whose tasks are shown. */
export function NewTask({ projectId, onClose }: { projectId: string | null; onClose: () => void }) {
  const [typed, setTyped] = useKept('new task', NOTHING);
  const queries = useQueryClient();
  const navigate = useNavigate();
  const off = useOffReason();
  const isHere = useIsMounted();
  const project = typed.projectId ?? projectId;
  const title = typed.title.trim();
  const url = typed.url.trim();
  const body: CreateTaskInput = {
    projectId: project ?? 'PROJECT',
    title,
    ...(url && { trackerIssueUrl: url }),
  };
  const write = useWrite({
    intent: 'create task',
    call: (input: CreateTaskInput, options) => client.tasks.create(input, options),
    onDone: ({ id, identifier }) => {
      setTyped(NOTHING);
      void readTasksAgain(queries);
      // The dialog may have been closed meanwhile, and another one be open.
      if (!isHere.current) return notify(`${identifier} is made.`);
      onClose();
      void navigate({ to: '/tasks/$taskId', params: { taskId: id } });
    },
  });
  const missing = project === null ? 'Choose its project.' : title === '' ? 'Give it a title.' : null;
  return (
    <Form
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        if (!off && !missing && !write.isSending) write.send(body);
      }}
    >
      <ProjectSelect value={project} onChange={(id) => setTyped({ ...typed, projectId: id })} />
      <Field
        label="Title"
        value={typed.title}
        onChange={(next) => setTyped({ ...typed, title: next })}
        fault={fieldFault(write.fault, '/title')}
        maxLength={500}
        autoFocus
      />
      <Field
        label="Issue"
        hint="Optional: its address in a tracker. Threads that name the same issue join the task."
        placeholder="https://github.com/acme/garden/issues/12"
        mono
        value={typed.url}
        onChange={(next) => setTyped({ ...typed, url: next })}
        fault={fieldFault(write.fault, '/trackerIssueUrl')}
        maxLength={2048}
      />
      <FaultLine fault={write.fault} at={['/title', '/trackerIssueUrl']} />
      <div className="flex items-center justify-end gap-2">
        <AsCode
          method="POST"
          path="/api/tasks"
          body={body}
          ts={`const task = await client.tasks.create(${JSON.stringify(body)});`}
          cli={`headrace tasks create ${quoted(title)} --project ${body.projectId}${url ? ` --issue ${quoted(url)}` : ''}`}
        />
        <Button onPress={onClose}>Cancel</Button>
        <Button type="submit" kind="primary" isPending={write.isSending} offBecause={off ?? missing}>
          Create
        </Button>
      </div>
    </Form>
  );
}
