/** The bar at the top: where this is, the palette, the mark of the connection. */
import { Menu as MenuIcon, Search } from 'lucide-react';
import { useLiveStatus } from '../live/index.ts';
import type { LiveState } from '../live/index.ts';
import { useIsOld } from '../api/version.ts';
import { Button, IconButton, Tip } from '../ui/button.tsx';
import { keyLabel } from '../ui/keys.ts';

export function Header({ onPalette, onSidebar }: { onPalette: () => void; onSidebar: () => void }) {
  return (
    <header className="sticky top-0 z-20 flex h-11 shrink-0 items-center gap-2 border-b border-line bg-paper px-2">
      <div className="md:hidden" data-navigation>
        <IconButton label="Open the navigation" onPress={onSidebar}>
          <MenuIcon size={16} />
        </IconButton>
      </div>
      <Button kind="quiet" onPress={onPalette}>
        <Search size={14} aria-hidden />
        <span className="sr-only sm:not-sr-only">Find and go</span>
        <kbd className="hidden font-mono text-11 text-ink-3 sm:inline">{keyLabel('mod+k')}</kbd>
      </Button>
      <div className="ml-auto flex items-center gap-2">
        <NewVersion />
        <Connection />
      </div>
    </header>
  );
}

/** A reload at the wrong time would cost text that was not sent, so the user says when. */
function NewVersion() {
  if (!useIsOld()) return null;
  return (
    <Button kind="primary" onPress={() => location.reload()}>
      New version: reload
    </Button>
  );
}

const STATES: Record<LiveState, { word: string; text: string; colour: string }> = {
  connecting: { word: 'Connecting', text: 'The page connects to the live data.', colour: 'text-ink-3' },
  live: { word: 'Live', text: 'What you see is up to date.', colour: 'text-done' },
  behind: { word: 'Catching up', text: 'The page reads what it has missed.', colour: 'text-wait' },
  offline: { word: 'Offline', text: 'The service cannot be reached.', colour: 'text-fail' },
  expired: {
    word: 'Reading again',
    text: 'Some history is gone, so the page reads everything again.',
    colour: 'text-wait',
  },
  'signed-out': { word: 'Signed out', text: 'Sign in to go on.', colour: 'text-fail' },
};

/** One quiet mark. Screen readers hear in the banner that the connection is lost, and read the rest here. */
function Connection() {
  const { state, reason } = useLiveStatus();
  const { word, text, colour } = STATES[state];
  return (
    <Tip text={reason ?? text}>
      <Button kind="quiet" aria-label={`Connection: ${word}`}>
        <span aria-hidden className={`flex items-center gap-1.5 ${colour}`} data-live={state}>
          <svg width="8" height="8" viewBox="0 0 8 8">
            {state === 'live' ? (
              <circle cx="4" cy="4" r="3.5" fill="currentColor" />
            ) : (
              <circle cx="4" cy="4" r="3" fill="none" stroke="currentColor" strokeWidth="1.5" />
            )}
          </svg>
          <span className={state === 'live' ? 'hidden sm:inline' : ''}>{word}</span>
        </span>
      </Button>
    </Tip>
  );
}
