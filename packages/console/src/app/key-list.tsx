import { Dialog } from '../ui/overlays.tsx';
import { Switch } from '../ui/fields.tsx';
import { areLettersOn, keyLabel, setLetters, useBindings } from '../ui/keys.ts';

/** The shortcuts that work on this page. */
export function KeyList({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const bindings = useBindings();
  const shown = [...new Map(bindings.map((binding) => [binding.keys, binding])).values()];
  return (
    <Dialog title="Keys" isOpen={isOpen} onClose={onClose}>
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
      <Switch isSelected={areLettersOn()} onChange={setLetters}>
        Single keys without ⌘ or Ctrl
      </Switch>
    </Dialog>
  );
}
