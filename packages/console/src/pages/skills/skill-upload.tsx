import type { Skill } from '@headrace/client';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { fieldFault } from '../../api/faults.ts';
import { useOffReason, useWrite } from '../../api/write.ts';
import { AsCode } from '../../ui/as-code.tsx';
import { Button } from '../../ui/button.tsx';
import { FaultLine } from '../../ui/fault-line.tsx';
import { Field } from '../../ui/fields.tsx';
import { notify } from '../../ui/notices.tsx';
import { useIsMounted } from '../../ui/use-is-mounted.ts';
import { bytes, plural } from '../../ui/values.tsx';
import { DropZone } from '../apps/import/drop-zone.tsx';
import { faultsByPath } from '../apps/import/faults.ts';
import { LeftOutList, PathFaults } from '../apps/import/left-out.tsx';
import { filesOf } from './files.ts';
import type { Level } from './level.ts';
import { filesFault, nameFault } from './rules.ts';
import { useFolder } from './use-folder.ts';

const SHOWN = ['/params/name', '/files'];

/** Makes a skill the files of a folder, whatever it was before. */
export function SkillUpload({
  level,
  own,
  replaced,
  onClose,
}: {
  level: Level;
  own: readonly Skill[];
  /** Its name stays. */
  replaced: Skill | null;
  onClose: () => void;
}) {
  const { folder, fault: readFault, choose, take, clear } = useFolder();
  const [typed, setTyped] = useState<string | null>(null);
  const queries = useQueryClient();
  const isHere = useIsMounted();
  const off = useOffReason();
  const files = folder?.scan.files ?? [];
  const name = replaced?.name ?? typed ?? folder?.name ?? '';
  const write = useWrite({
    intent: `set a skill of ${level.appId ?? 'the organization'}`,
    // What names the files is sent with the name, and their contents are read when they are sent.
    call: async (input: { name: string; print: unknown }, options) =>
      level.set(input.name, { files: await filesOf(files) }, options),
    onDone: (skill) => {
      void queries.invalidateQueries({ queryKey: level.queryKey });
      notify(`${skill.name} is set. Runs that begin from now on have it.`);
      if (isHere.current) onClose();
    },
  });
  if (!folder)
    return (
      <>
        {readFault !== null && (
          <p role="alert" className="long border-l-2 border-fail pl-3 text-fail">
            {readFault}
          </p>
        )}
        <DropZone onEntries={choose} takesArchives={false}>
          <p className="text-15 font-bold">Drop the skill’s folder here</p>
          <p className="max-w-[64ch] text-ink-2">
            A SKILL.md is at its top. Its front matter, between two lines “---”, has the skill’s name and
            description. You see what it is before anything is sent.
          </p>
          <p className="text-12 text-ink-3">At most 200 files, 4 MiB in all.</p>
        </DropZone>
      </>
    );
  const { scan } = folder;
  const wrongName = nameFault(name);
  const wrongFiles = filesFault(files, scan.byteSize);
  const refused = (write.fault?.fields ?? scan.fields).filter(({ path }) => path.startsWith('/files'));
  const before = own.find((skill) => skill.name === name);
  const broken = scan.fields.length > 0 ? 'Some files break a rule: see the marked ones.' : null;
  const offBecause = off ?? wrongName ?? wrongFiles ?? broken;
  const print = files.map(({ path, file }) => [path, file.size, file.lastModified]);
  return (
    <form
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        if (!offBecause && !write.isSending) write.send({ name, print });
      }}
    >
      <p role="status">
        {plural(files.length, 'file')}, {bytes(scan.byteSize)}
      </p>
      <Field
        label="Name"
        mono
        autoFocus
        isReadOnly={replaced !== null || write.isSending}
        value={name}
        onChange={(text) => {
          setTyped(text);
          write.reset();
        }}
        hint={
          before
            ? `Replaces the skill of this name, with its ${plural(before.fileCount, 'file')}.`
            : 'As SKILL.md names it.'
        }
        fault={fieldFault(write.fault, '/params/name') ?? wrongName}
      />
      {(wrongFiles !== null || refused.length > 0) && (
        <div role="alert">
          {wrongFiles !== null && <p className="text-fail">{wrongFiles}</p>}
          <PathFaults
            faults={faultsByPath(
              refused,
              files.map(({ path }) => path),
            )}
          />
        </div>
      )}
      <LeftOutList items={scan.leftOut} isOff={write.isSending} onTake={take} />
      <FaultLine fault={write.fault} at={SHOWN} />
      <div className="flex flex-wrap items-center justify-end gap-2">
        <AsCode
          method="PUT"
          path={level.path(name)}
          body={{ files: [{ path: 'SKILL.md', content: '…' }] }}
          isSession={level.appId === null}
          ts={level.ts('set', `'${name}', { files: [{ path: 'SKILL.md', content }] }`)}
          cli={`headrace skills set ${name} ./${name} ${level.flags}`}
        />
        <Button
          isDisabled={write.isSending}
          onPress={() => {
            write.reset();
            setTyped(null);
            clear();
          }}
        >
          Choose another
        </Button>
        <Button kind="primary" type="submit" isPending={write.isSending} offBecause={offBecause}>
          {before ? 'Replace the skill' : 'Add the skill'}
        </Button>
      </div>
    </form>
  );
}
