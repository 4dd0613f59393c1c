/** Whether a build or a preview has the layer of the app's setup: the choice, and what was chosen. */
import { Link } from '@tanstack/react-router';
import { Switch } from '../../ui/fields.tsx';

/** What is kept of a dialog are texts. */
export type Layer = 'yes' | 'no';

export const layerOf = ({ setup }: { setup: boolean }): Layer => (setup ? 'yes' : 'no');

export function LayerSwitch({
  hint,
  value,
  onChange,
}: {
  hint: string;
  value: string;
  onChange: (layer: Layer) => void;
}) {
  return (
    <div>
      <Switch isSelected={value === 'yes'} onChange={(isOn) => onChange(isOn ? 'yes' : 'no')}>
        With the setup’s layer
      </Switch>
      <p className="text-12 text-ink-3">{hint}</p>
    </div>
  );
}

export const WithLayer = ({ appId }: { appId: string }) => (
  <span>
    <Link to="/apps/$appId/setups" params={{ appId }} className="link">
      with its layer
    </Link>
    <span className="text-ink-3">, if the settings name one</span>
  </span>
);
