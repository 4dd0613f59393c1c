/** A new repository that this service hosts, empty or with a folder as its first commit. */
import type { ScmCreateRepositoryInput } from '@headrace/client';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { client } from '../../api/client.ts';
import { fieldFault } from '../../api/faults.ts';
import { REPOSITORIES } from '../../api/repositories-queries.ts';
import { useOffReason, useWrite } from '../../api/write.ts';
import { Plain } from '../../code/plain.tsx';
import { AsCode, quoted } from '../../ui/as-code.tsx';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { FaultLine } from '../../ui/fault-line.tsx';
import { Field } from '../../ui/fields.tsx';
import { bytes, plural } from '../../ui/values.tsx';
import { DropZone } from '../apps/import/drop-zone.tsx';
import { faultsByPath } from '../apps/import/faults.ts';
import { LeftOutList, PathFaults } from '../apps/import/left-out.tsx';
import { filesOf } from '../skills/files.ts';
import { useFolder } from '../skills/use-folder.ts';
import { nameFault, worded } from './words.ts';

export const NewRepository = ({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) => (
  <Dialog title="New repository" wide isOpen={isOpen} onClose={onClose}>
    <NewForm onClose={onClose} />
  </Dialog>
);

const SHOWN = ['/name', '/defaultBranch', '/message', '/files'];

function NewForm({ onClose }: { onClose: () => void }) {
  const [typed, setTyped] = useState({ name: '', defaultBranch: 'main', message: '' });
  const { folder, fault: readFault, choose, take, clear } = useFolder();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const off = useOffReason();
  const set = (change: Partial<typeof typed>) => {
    setTyped({ ...typed, ...change });
    if (write.fault) write.reset();
  };
  const files = folder?.scan.files ?? [];
  const name = typed.name.trim();
  const plain: ScmCreateRepositoryInput = {
    name,
    ...(typed.defaultBranch.trim() && { defaultBranch: typed.defaultBranch.trim() }),
    ...(folder && typed.message.trim() && { message: typed.message.trim() }),
  };
  const write = useWrite({
    intent: 'create repository',
    // What names the files is sent with the rest, and their contents are read when they are sent.
    call: async ({ body }: { body: ScmCreateRepositoryInput; print: unknown }, options) =>
      worded(
        client.scm.createRepository({ ...body, ...(folder && { files: await filesOf(files) }) }, options),
      ),
    onDone: ({ id: repositoryId }) => {
      onClose();
      void queries.invalidateQueries({ queryKey: REPOSITORIES });
      void navigate({ to: '/organization/repositories/$repositoryId', params: { repositoryId } });
    },
  });
  const wrongName = nameFault(name);
  const broken = folder?.scan.fields.length ? 'Some files break a rule: see the marked ones.' : null;
  const offBecause = off ?? (name === '' ? 'Give it a name first.' : (wrongName ?? broken));
  const refused = (write.fault?.fields ?? folder?.scan.fields ?? []).filter(({ path }) =>
    path.startsWith('/files'),
  );
  return (
    <form
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        const print = files.map(({ path, file }) => [path, file.size, file.lastModified]);
        if (!offBecause && !write.isSending) write.send({ body: plain, print });
      }}
    >
      <div className="grid gap-4 sm:grid-cols-2">
        <Field
          label="Name"
          hint="It is part of the address to clone it by."
          mono
          autoFocus
          value={typed.name}
          onChange={(next) => set({ name: next })}
          fault={fieldFault(write.fault, '/name') ?? wrongName}
          maxLength={100}
        />
        <Field
          label="Default branch"
          mono
          value={typed.defaultBranch}
          onChange={(defaultBranch) => set({ defaultBranch })}
          fault={fieldFault(write.fault, '/defaultBranch')}
          maxLength={255}
        />
      </div>
      {readFault !== null && (
        <p role="alert" className="long border-l-2 border-fail pl-3 text-fail">
          {readFault}
        </p>
      )}
      {folder ? (
        <>
          <p className="flex flex-wrap items-center gap-3" role="status">
            <span className="long">
              <b className="font-bold">
                <Plain text={folder.name || 'The folder'} />
              </b>{' '}
              becomes the first commit: {plural(files.length, 'file')}, {bytes(folder.scan.byteSize)}
            </span>
            <Button kind="quiet" isDisabled={write.isSending} onPress={clear}>
              Leave it out
            </Button>
          </p>
          {refused.length > 0 && (
            <div role="alert">
              <PathFaults
                faults={faultsByPath(
                  refused,
                  files.map(({ path }) => path),
                )}
              />
            </div>
          )}
          <LeftOutList items={folder.scan.leftOut} isOff={write.isSending} onTake={take} />
          <Field
            label="Message of the commit"
            hint="Optional."
            value={typed.message}
            onChange={(message) => set({ message })}
            fault={fieldFault(write.fault, '/message')}
            maxLength={10_000}
            placeholder="First commit"
          />
        </>
      ) : (
        <DropZone onEntries={choose} takesArchives={false}>
          <p className="text-15 font-bold">Drop a folder here for a first commit</p>
          <p className="max-w-[64ch] text-ink-2">
            Optional: without one the repository is empty, and you push to it. Its .git and folders of
            dependencies are left out; to keep a history, push instead.
          </p>
        </DropZone>
      )}
      <FaultLine fault={write.fault} at={SHOWN} />
      <div className="flex flex-wrap items-center justify-end gap-2">
        <AsCode
          method="POST"
          path="/api/source-control/scm/repositories"
          body={folder ? { ...plain, files: [{ path: 'README.md', content: '…' }] } : plain}
          ts={`const repository = await client.scm.createRepository(${JSON.stringify(plain)});`}
          cli={`headrace repos create ${quoted(name)}${plain.defaultBranch && plain.defaultBranch !== 'main' ? ` --branch ${quoted(plain.defaultBranch)}` : ''}`}
        />
        <Button onPress={onClose}>Cancel</Button>
        <Button type="submit" kind="primary" isPending={write.isSending} offBecause={offBecause}>
          Create the repository
        </Button>
      </div>
    </form>
  );
}
