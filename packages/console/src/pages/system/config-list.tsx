/** The settings of the service, as its environment has them. */
import type { System } from '@headrace/client';
import { Plain } from '../../code/index.ts';
import { Find } from '../../ui/find.tsx';
import { Section } from '../../ui/page.tsx';

export function ConfigList({
  config,
  find,
  onFind,
}: {
  config: System['config'];
  find: string;
  onFind: (text: string) => void;
}) {
  const wanted = find.toLowerCase();
  const found = config.filter(({ name, value }) => `${name} ${value ?? ''}`.toLowerCase().includes(wanted));
  const set = config.filter(({ isDefault }) => !isDefault).length;
  return (
    <Section
      title="Configuration"
      actions={<Find label="Find a setting" placeholder="Name or value" value={find} onChange={onFind} />}
    >
      <p className="px-4 pb-1 text-12 text-ink-3">
        {set} of {config.length} are set, in the environment of the process that answered. Others have their
        defaults.
      </p>
      <ul aria-label="Configuration">
        {found.map(({ name, value, isDefault }) => (
          <li
            key={name}
            className="flex min-h-7 flex-wrap items-baseline gap-x-4 border-b border-line px-4 py-1"
          >
            <span className="long w-80 max-w-full font-mono text-mono">{name}</span>
            <span className="long flex-[1_1_160px] font-mono text-mono text-ink-2">
              {value === null ? <span className="text-ink-3">–</span> : <Plain text={value} />}
            </span>
            <span className={`w-14 text-12 ${isDefault ? 'text-ink-3' : 'font-bold'}`}>
              {isDefault ? 'default' : 'set'}
            </span>
          </li>
        ))}
      </ul>
      {found.length === 0 && (
        <p className="px-4 py-2 text-ink-2">No setting has this in its name or value.</p>
      )}
    </Section>
  );
}
