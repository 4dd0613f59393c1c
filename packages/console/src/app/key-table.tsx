import { useState } from 'react';
import { Dialog } from '../ui/dialog.tsx';
import { Switch } from '../ui/fields.tsx';
import { areLettersOn, keyLabel, setLetters, useBindings } from '../ui/keys.ts';
import { useMayOpen } from './session.tsx';

/** The shortcuts that work on this page. */
export function KeyTable({ onClose }: { onClose: () => void }) {
  const bindings = useBindings();
  const shown = [...new Map(bindings.map((binding) => [binding.keys, binding])).values()];
  const [areOn, setOn] = useState(areLettersOn);
  const change = (on: boolean) => {
    setLetters(on);
    setOn(on);
  };
  return (
    <Dialog title="Keys" isOpen={useMayOpen()} onClose={onClose}>
      <div className="-mx-4">
        <table className="table">
          <tbody>
            {shown.map(({ keys, does }) => (
              <tr key={keys}>
                <td className="w-28 font-mono text-mono">{keyLabel(keys)}</td>
                <td>{does}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <Switch isSelected={areOn} onChange={change}>
        Single keys without ⌘ or Ctrl
      </Switch>
    </Dialog>
  );
}
