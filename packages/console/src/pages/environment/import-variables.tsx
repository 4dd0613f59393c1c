import type { Variable } from '@headrace/client';
import { parseEnvFile } from '@headrace/client/files';
import { useEffect, useRef, useState } from 'react';
import { Form } from 'react-aria-components/Form';
import { useOffReason } from '../../api/write.ts';
import { Plain } from '../../code/plain.tsx';
import { AsCode } from '../../ui/as-code.tsx';
import { Button } from '../../ui/button.tsx';
import { FaultLine } from '../../ui/fault-line.tsx';
import { Checkbox, Field } from '../../ui/fields.tsx';
import { notify } from '../../ui/notices.tsx';
import { plural } from '../../ui/values.tsx';
import type { Level } from './level.ts';
import { looksSecret, nameFault, roomFault, valueFault } from './rules.ts';
import { useSet } from './use-set.ts';

interface Line {
  name: string;
  value: string;
  isSecret: boolean;
  fault: string | null;
}

/** Sets what the text of a `.env` file names, one after the other. What is typed is kept nowhere. */
export function ImportVariables({
  level,
  own,
  onSending,
  onClose,
}: {
  level: Level;
  own: readonly Variable[];
  onSending: (isSending: boolean) => void;
  onClose: () => void;
}) {
  const [text, setText] = useState('');
  const [secrets, setSecrets] = useState<ReadonlyMap<string, boolean>>(new Map());
  const [done, setDone] = useState<ReadonlySet<string>>(new Set());
  const [at, setAt] = useState<string | null>(null);
  const isHere = useRef(true);
  useEffect(() => {
    isHere.current = true;
    return () => void (isHere.current = false);
  }, []);
  const off = useOffReason();
  const write = useSet(level);
  const lines = linesOf(text, secrets);
  const open = lines.filter(({ name }) => !done.has(name));
  const room = roomFault(own, open);
  const wrong = lines.filter(({ fault }) => fault !== null).length;
  const isSending = at !== null && !write.fault;
  const send = async () => {
    onSending(true);
    try {
      for (const { name, value, isSecret } of open) {
        if (!isHere.current) return;
        setAt(name);
        await write.sendAsync({ name, body: { value, ...(isSecret && { secret: true }) } });
        setDone((last) => new Set(last).add(name));
      }
      notify(`${plural(lines.length, 'variable')} set. Sandboxes that start from now on have them.`);
      onClose();
    } catch {
      // The form shows what failed; what was set stays so.
    } finally {
      onSending(false);
    }
  };
  const off2 =
    lines.length === 0
      ? 'Paste lines NAME=VALUE first.'
      : wrong > 0
        ? 'Some lines are wrong: see the marked ones.'
        : room;
  return (
    <Form
      className="flex flex-col gap-4"
      autoComplete="off"
      onSubmit={(event) => {
        event.preventDefault();
        if (!off && !off2 && !isSending) void send();
      }}
    >
      <Field
        label="Text of a .env file"
        mono
        lines={8}
        placeholder={'API_URL=https://api.example.com\nAPI_TOKEN="…"'}
        value={text}
        onChange={(next) => {
          setText(next);
          setDone(new Set());
          setAt(null);
          write.reset();
        }}
        isReadOnly={isSending}
        hint="As headrace env import reads it. Variables that it does not name stay. Secrets are not given to agents’ runs, the others to all; each can be changed later."
        autoFocus
        autoComplete="off"
        spellCheck="false"
      />
      {lines.length > 0 && (
        <ul aria-label="Variables in the text" className="max-h-64 overflow-auto border-y border-line">
          {lines.map((line) => (
            <li
              key={line.name}
              className="flex flex-wrap items-center gap-x-3 border-b border-line py-1 last:border-0"
            >
              <span className="long min-w-0 flex-1 basis-40 font-mono text-mono">
                <Plain text={line.name} />
              </span>
              <span className="text-12 text-ink-3">
                {done.has(line.name)
                  ? 'set'
                  : own.some(({ name }) => name === line.name)
                    ? 'replaced'
                    : 'new'}
              </span>
              <Checkbox
                aria-label={`${line.name} is a secret`}
                isSelected={line.isSecret}
                isDisabled={isSending || done.has(line.name)}
                onChange={(isOn) => setSecrets(new Map(secrets).set(line.name, isOn))}
              >
                Secret
              </Checkbox>
              {line.fault && (
                <p role="alert" className="long basis-full text-12 text-fail">
                  {line.fault}
                </p>
              )}
            </li>
          ))}
        </ul>
      )}
      {lines.length > 0 && room && (
        <p role="alert" className="text-fail">
          {room}
        </p>
      )}
      {write.fault && at !== null && (
        <p className="long">
          <span className="font-mono text-mono">{at}</span> was refused or has no answer; none after it was
          set.
        </p>
      )}
      <FaultLine fault={write.fault} />
      <div className="flex items-center justify-end gap-2">
        <span role="status" className="mr-auto text-ink-2">
          {isSending && `${done.size} of ${lines.length} set`}
        </span>
        <AsCode
          method="PUT"
          path={level.path('NAME')}
          body={{ value: 'THE VALUE' }}
          isSession={level.appId === null}
          ts={`for (const [name, value] of parseEnvFile(text))\n  ${level.ts('set', 'name, { value }')}`}
          cli={`headrace env import .env ${level.flags}`}
        />
        <Button onPress={onClose} isDisabled={isSending}>
          Cancel
        </Button>
        <Button type="submit" kind="primary" isPending={isSending} offBecause={off ?? off2}>
          {open.length === 0 ? 'Set them' : `Set ${plural(open.length, 'variable')}`}
        </Button>
      </div>
    </Form>
  );
}

const linesOf = (text: string, secrets: ReadonlyMap<string, boolean>): Line[] =>
  [...parseEnvFile(text)].map(([name, value]) => {
    const isSecret = secrets.get(name) ?? (looksSecret(name) && valueFault(value, true) === null);
    return { name, value, isSecret, fault: nameFault(name) ?? valueFault(value, isSecret) };
  });
