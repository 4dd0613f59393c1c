import type { Project } from '@headrace/client';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { client } from '../../api/client.ts';
import { useOffReason, useWrite } from '../../api/write.ts';
import { Plain } from '../../code/plain.tsx';
import { AsCode } from '../../ui/as-code.tsx';
import { Button } from '../../ui/button.tsx';
import { FaultLine } from '../../ui/fault-line.tsx';
import { Field } from '../../ui/fields.tsx';
import { notify } from '../../ui/notices.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Section } from '../../ui/page.tsx';

/** Asks for the app's or the project's name before it deletes. */
export function DeleteApp({ app }: { app: Project }) {
  const word = app.kind === 'direct' ? 'project' : 'app';
  const [isOpen, setOpen] = useState(false);
  const [typed, setTyped] = useState('');
  const queries = useQueryClient();
  const navigate = useNavigate();
  const off = useOffReason();
  const write = useWrite({
    intent: `delete ${word} ${app.id}`,
    call: (_: null, options) => client.projects.delete(app.id, options),
    onDone: async () => {
      setOpen(false);
      notify(`The ${word} is deleted.`);
      await navigate({ to: `/${word}s` });
      queries.removeQueries({ queryKey: ['app', app.id] });
      void queries.invalidateQueries({ queryKey: [`${word}s`] });
    },
  });
  const isNamed = typed.trim() === app.name.trim();
  const close = () => {
    setOpen(false);
    setTyped('');
    write.reset();
  };
  return (
    <Section title="Delete">
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2 px-4 pb-6">
        <p className="max-w-[64ch] text-ink-2">
          The {word} goes with its threads, sources, builds and previews. Nothing brings it back.
          {app.repositoryId !== null && ' Its repository stays as it is.'}
        </p>
        <Button kind="danger" onPress={() => setOpen(true)}>
          Delete the {word}
        </Button>
      </div>
      <Dialog title={`Delete the ${word}`} isOpen={isOpen} onClose={close}>
        <p className="long text-ink-2">
          To delete it with all that belongs to it, type its name:{' '}
          <b className="text-ink">
            <Plain text={app.name} />
          </b>
        </p>
        <Field label={`The ${word}’s name`} value={typed} onChange={setTyped} autoFocus />
        <FaultLine fault={write.fault} />
        <div className="flex items-center justify-end gap-2">
          <AsCode
            method="DELETE"
            path={word === 'app' ? `/api/platform/v1/apps/${app.id}` : `/api/projects/${app.id}`}
            ts={`await client.${word}s.delete('${app.id}');`}
            cli={`headrace ${word}s delete ${app.id}`}
          />
          <Button onPress={close}>Cancel</Button>
          <Button
            kind="danger"
            isPending={write.isSending}
            offBecause={off ?? (isNamed ? null : 'Type the name first.')}
            onPress={() => write.send(null)}
          >
            Delete the {word}
          </Button>
        </div>
      </Dialog>
    </Section>
  );
}
