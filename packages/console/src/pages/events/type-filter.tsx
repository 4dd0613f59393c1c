import { Check, ChevronDown } from 'lucide-react';
import { Dialog, DialogTrigger } from 'react-aria-components/Dialog';
import { Header } from 'react-aria-components/Header';
import { ListBox, ListBoxItem, ListBoxSection } from 'react-aria-components/ListBox';
import { Popover } from 'react-aria-components/Popover';
import { Button } from '../../ui/button.tsx';
import { TYPE_GROUPS } from './types.ts';

/** Chooses types of events; none chosen are all. */
export function TypeFilter({
  types,
  onChange,
}: {
  types: readonly string[];
  onChange: (types: string[]) => void;
}) {
  const [only] = types;
  const known = new Set(TYPE_GROUPS.flatMap((group) => group.types));
  return (
    <DialogTrigger>
      <Button>
        {only === undefined ? 'All types' : types.length === 1 ? only : `${types.length} types`}
        <ChevronDown size={14} aria-hidden />
      </Button>
      <Popover className="popover flex w-72 flex-col">
        <Dialog aria-label="Types of events" className="flex min-h-0 flex-col outline-none">
          <div className="border-b border-line p-1">
            <Button kind="quiet" isDisabled={only === undefined} onPress={() => onChange([])}>
              All types
            </Button>
          </div>
          <ListBox
            aria-label="Types"
            selectionMode="multiple"
            selectionBehavior="toggle"
            // It closes the list, with what was chosen.
            escapeKeyBehavior="none"
            // What the address names may be unknown here.
            selectedKeys={types.filter((type) => known.has(type))}
            onSelectionChange={(keys) => onChange(keys === 'all' ? [] : [...keys].map(String))}
            className="min-h-0 overflow-y-auto outline-none"
          >
            {TYPE_GROUPS.map((group) => (
              <ListBoxSection key={group.name} id={group.name}>
                <Header className="label px-2.5 py-1">{group.name}</Header>
                {group.types.map((type) => (
                  <ListBoxItem key={type} id={type} textValue={type} className="item">
                    {({ isSelected }) => (
                      <>
                        <span className="w-4 shrink-0">{isSelected && <Check size={14} aria-hidden />}</span>
                        <span className="long font-mono text-mono">{type}</span>
                      </>
                    )}
                  </ListBoxItem>
                ))}
              </ListBoxSection>
            ))}
          </ListBox>
        </Dialog>
      </Popover>
    </DialogTrigger>
  );
}
