import { useSyncExternalStore } from 'react';
import { setTheme, themeOf } from '../../app/theme.ts';
import type { Theme } from '../../app/theme.ts';
import { Choices } from '../../ui/choices.tsx';
import { Switch } from '../../ui/fields.tsx';
import { areLettersOn, setLetters } from '../../ui/keys.ts';
import { Section } from '../../ui/page.tsx';

const THEMES = [
  { id: 'system', text: 'Same as the system' },
  { id: 'light', text: 'Light' },
  { id: 'dark', text: 'Dark' },
];

const listeners = new Set<() => void>();
const subscribe = (listener: () => void) => {
  listeners.add(listener);
  // Other tabs keep the same choices.
  window.addEventListener('storage', listener);
  return () => {
    listeners.delete(listener);
    window.removeEventListener('storage', listener);
  };
};
const changed = () => {
  for (const listener of listeners) listener();
};

/** How the console looks and listens, in this browser. */
export function Preferences() {
  const theme = useSyncExternalStore(subscribe, themeOf);
  const isOn = useSyncExternalStore(subscribe, areLettersOn);
  return (
    <Section title="This browser">
      <div className="flex flex-col items-start gap-4 px-4 pt-1 pb-3">
        <Choices
          label="Theme"
          choices={THEMES}
          value={theme}
          onChange={(id) => {
            setTheme(id as Theme);
            changed();
          }}
        />
        <div>
          <Switch
            isSelected={isOn}
            onChange={(value) => {
              setLetters(value);
              changed();
            }}
          >
            Single letters are shortcuts
          </Switch>
          <p className="text-12 text-ink-3">
            They never work while you type in a field. Combinations with ⌘ or Ctrl always work.
          </p>
        </div>
      </div>
    </Section>
  );
}
