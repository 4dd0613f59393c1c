import { useInfiniteQuery } from '@tanstack/react-query';
import { runtimesQuery } from '../../api/queries.ts';
import { Choices } from '../../ui/choices.tsx';
import { Field, Select } from '../../ui/fields.tsx';
import { faultAt, hostsOf } from './draft.ts';
import { inherit, inherited } from './inherited.ts';
import { Note, withChosen } from './limits.tsx';
import type { PartProps } from './part.ts';

const MODES = [
  { id: 'none', text: 'Nothing' },
  { id: 'registries', text: 'Package registries' },
  { id: 'list', text: 'Only listed hosts' },
];

export function Sandbox(props: PartProps) {
  const { draft, set, wrong, fields } = props;
  return (
    <>
      <Egress {...props} />
      <Runtime {...props} />
      <Field
        label="Idle minutes until a workspace is put away"
        inputMode="numeric"
        value={draft.idleTimeoutMinutes}
        onChange={(idleTimeoutMinutes) => set({ idleTimeoutMinutes })}
        hint={`1 to 60. Empty: ${inherited(props, ({ idleTimeoutMinutes: minutes }) => (minutes === null ? null : `${minutes} minutes`), 'the service’s default')}.`}
        fault={wrong.idleTimeoutMinutes ?? faultAt(fields, '/idleTimeoutMinutes')}
      />
    </>
  );
}

function Egress(props: PartProps) {
  const { of, draft, set, wrong, fields } = props;
  const { mode, hosts } = draft.egress;
  const hasHosts = mode === 'list' || mode === 'registries';
  const fault = faultAt(fields, '/egress/hosts', hostsOf(draft)) ?? faultAt(fields, '/egress');
  const known = [inherit(of), ...MODES];
  const modes = known.some(({ id }) => id === mode) ? known : [...known, { id: mode, text: mode }];
  return (
    <>
      <Choices
        label="What sandboxes can reach"
        hint={
          mode === ''
            ? `Now: ${inherited(props, ({ egress }) => egress && wordsOf(egress), 'nothing')}.`
            : 'Over TLS on port 443.'
        }
        choices={modes}
        value={mode}
        onChange={(next) => set({ egress: { mode: next, hosts } })}
      />
      {/* Hosts that were typed are kept, and sent, also where they do not count. */}
      {!hasHosts && fault && <Note fault={fault}>{null}</Note>}
      {hasHosts && (
        <Field
          label={mode === 'list' ? 'Hosts' : 'Hosts besides the registries'}
          mono
          lines={Math.min(10, Math.max(3, hosts.split('\n').length + 1))}
          value={hosts}
          onChange={(next) => set({ egress: { mode, hosts: next } })}
          placeholder="api.example.com"
          hint="One in a line. *.example.com means every name below example.com, but not itself."
          fault={wrong.egress ?? fault}
        />
      )}
    </>
  );
}

const wordsOf = ({ mode, hosts = [] }: { mode: string; hosts?: string[] }) =>
  [{ none: 'nothing', registries: 'the package registries', list: '' }[mode] ?? mode, ...hosts]
    .filter(Boolean)
    .join(', ');

function Runtime(props: PartProps) {
  const { of, draft, set, fields } = props;
  const runtimes = useInfiniteQuery(runtimesQuery());
  const known = (runtimes.data?.pages ?? []).flatMap(({ items }) =>
    items.map(({ name, description, available }) => ({
      id: name,
      text: description ? `${name}: ${description}` : name,
      ...(!available && { note: 'not available now' }),
    })),
  );
  return (
    <div className="flex flex-col gap-1">
      <Select
        label="System"
        choices={withChosen([inherit(of), ...known], draft.runtime)}
        value={draft.runtime}
        onChange={(runtime) => set({ runtime })}
      />
      <Note fault={faultAt(fields, '/runtime')}>
        {known.length === 0 && runtimes.data
          ? 'The operator offers none: sandboxes have the host’s own system.'
          : draft.runtime === '' &&
            `Now: ${inherited(props, ({ runtime }) => runtime, 'the host’s own system')}.`}
      </Note>
    </div>
  );
}
