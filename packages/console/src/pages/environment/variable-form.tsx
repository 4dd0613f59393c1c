import type { SetAppVariableInput, Variable } from '@headrace/client';
import { useState } from 'react';
import { Form } from 'react-aria-components/Form';
import { fieldFault } from '../../api/faults.ts';
import { useOffReason } from '../../api/write.ts';
import { AsCode } from '../../ui/as-code.tsx';
import type { AsCodeProps } from '../../ui/as-code.tsx';
import { Button } from '../../ui/button.tsx';
import { FaultLine } from '../../ui/fault-line.tsx';
import { Field, Switch } from '../../ui/fields.tsx';
import { notify } from '../../ui/notices.tsx';
import { Note } from '../settings/limits.tsx';
import type { Level } from './level.ts';
import { nameFault, roomFault, TARGETS, usualTargets, valueFault } from './rules.ts';
import type { Target } from './rules.ts';
import { Targets } from './targets.tsx';
import { useSet } from './use-set.ts';

/** What stands in samples for a value: they are copied, and shown to others. */
const PLACEHOLDER = 'THE VALUE';

/** Sets a variable, or all of one that is there: the service takes it whole. What is typed is kept nowhere. */
export function VariableForm({
  level,
  own,
  name: given,
  onClose,
}: {
  level: Level;
  /** The level's variables. */
  own: readonly Variable[];
  /** Missing: a new one, whose name is asked. */
  name: string | undefined;
  onClose: () => void;
}) {
  const [typedName, setName] = useState('');
  const name = given ?? typedName.trim();
  const before = own.find((variable) => variable.name === name);
  const [value, setValue] = useState((given !== undefined && before?.value) || '');
  const [isSecret, setSecret] = useState(given !== undefined && (before?.secret ?? false));
  const [chosen, setChosen] = useState<Target[] | null>(
    given === undefined ? null : (before?.targets ?? null),
  );
  const targets = chosen ?? usualTargets(isSecret);
  const off = useOffReason();
  const write = useSet(level, () => {
    notify(`${name} is set. Sandboxes that start from now on have it.`);
    onClose();
  });
  const wrong = {
    name: given === undefined && name !== '' ? nameFault(name) : null,
    value: value === '' ? null : valueFault(value, isSecret),
    targets: targets.length === 0 ? 'Choose one.' : null,
    room: roomFault(own, [{ name, value }]),
  };
  const missing =
    name === '' ? 'Give it a name.' : isSecret && value === '' ? 'Give the secret’s value.' : null;
  const isWrong = Object.values(wrong).some((fault) => fault !== null);
  const body = { ...(isSecret && { secret: true }), targets };
  return (
    <Form
      className="flex flex-col gap-4"
      autoComplete="off"
      onSubmit={(event) => {
        event.preventDefault();
        if (!off && !missing && !isWrong && !write.isSending) write.send({ name, body: { value, ...body } });
      }}
    >
      {given === undefined && (
        <Field
          label="Name"
          mono
          placeholder="API_URL"
          value={typedName}
          onChange={setName}
          hint={before && `There is one in ${level.name}: it becomes just what you give here.`}
          fault={wrong.name ?? fieldFault(write.fault, '/params/name')}
          autoFocus
          autoComplete="off"
        />
      )}
      <Field
        label="Value"
        mono
        lines={3}
        value={value}
        onChange={setValue}
        hint={
          before?.secret
            ? 'The present value is never shown. To change anything about it, give the value again.'
            : 'Empty is a value, too.'
        }
        fault={wrong.value ?? fieldFault(write.fault, '/value')}
        autoFocus={given !== undefined}
        autoComplete="off"
        spellCheck="false"
      />
      <div>
        <Switch isSelected={isSecret} onChange={setSecret}>
          Secret
        </Switch>
        <Note fault={fieldFault(write.fault, '/secret')}>
          {isSecret
            ? 'Write-only: once saved, nobody is shown the value again, and it is masked in what comes out of sandboxes.'
            : 'Off: who may read the variables reads the value.'}
        </Note>
      </div>
      <Targets
        value={targets}
        onChange={setChosen}
        fault={wrong.targets ?? fieldFault(write.fault, '/targets')}
      />
      {wrong.room && (
        <p role="alert" className="text-fail">
          {wrong.room}
        </p>
      )}
      <FaultLine fault={write.fault} at={['/params/name', '/value', '/secret', '/targets']} />
      <div className="flex items-center justify-end gap-2">
        <AsCode {...samplesOf(level, name || 'NAME', body)} />
        <Button onPress={onClose}>Cancel</Button>
        <Button
          type="submit"
          kind="primary"
          isPending={write.isSending}
          offBecause={off ?? missing ?? (isWrong ? 'Some fields are wrong: see the marked ones.' : null)}
        >
          Save
        </Button>
      </div>
    </Form>
  );
}

function samplesOf(level: Level, name: string, fields: Omit<SetAppVariableInput, 'value'>): AsCodeProps {
  const body = { value: PLACEHOLDER, ...fields };
  const targets = fields.targets ?? [];
  const whom = targets.length === TARGETS.length ? '' : targets.map((target) => ` --for ${target}`).join('');
  return {
    method: 'PUT',
    path: level.path(name),
    body,
    isSession: level.appId === null,
    ts: level.ts('set', `'${name}', ${JSON.stringify(body)}`),
    cli: `headrace env set ${name}${fields.secret ? ' --secret' : ''}${whom} ${level.flags} < value.txt`,
  };
}
