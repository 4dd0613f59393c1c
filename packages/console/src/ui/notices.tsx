/** Short lines at the edge of the page: what was done, and what failed while the user looked elsewhere. */
import { X } from 'lucide-react';
import { useEffect, useSyncExternalStore } from 'react';
import { IconButton } from './button.tsx';

interface Notice {
  id: number;
  text: string;
  tone: 'done' | 'fail';
}

const SHOWN_MS = 6_000;
/** A fault is read in full before it goes. */
const FAULT_SHOWN_MS = 20_000;
const MOST = 4;

let notices: Notice[] = [];
let last = 0;
const listeners = new Set<() => void>();

function set(next: Notice[]): void {
  notices = next;
  for (const listener of listeners) listener();
}

/** Shows a line for a few seconds. It is also read out. */
export function notify(text: string, tone: Notice['tone'] = 'done'): void {
  last++;
  set([...notices, { id: last, text, tone }].slice(-MOST));
}

const dismiss = (id: number) => set(notices.filter((notice) => notice.id !== id));

const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

export function Notices() {
  const shown = useSyncExternalStore(subscribe, () => notices);
  return (
    <div
      role="status"
      aria-live="polite"
      className="pointer-events-none fixed right-4 bottom-4 z-40 flex max-w-[360px] flex-col gap-2"
    >
      {shown.map((notice) => (
        <Line key={notice.id} {...notice} />
      ))}
    </div>
  );
}

function Line({ id, text, tone }: Notice) {
  useEffect(() => {
    const timer = setTimeout(() => dismiss(id), tone === 'fail' ? FAULT_SHOWN_MS : SHOWN_MS);
    return () => clearTimeout(timer);
  }, [id, tone]);
  return (
    <div
      className={`popover pointer-events-auto flex items-start gap-2 border-l-2 py-1 pl-3 ${tone === 'fail' ? 'border-l-fail' : 'border-l-done'}`}
    >
      <p className="long py-1">{text}</p>
      <IconButton label="Dismiss" onPress={() => dismiss(id)}>
        <X size={14} />
      </IconButton>
    </div>
  );
}
