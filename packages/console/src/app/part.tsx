/** Parts of the shell whose code comes later than the first page. */
import { Component, Suspense, useEffect } from 'react';
import type { ReactNode } from 'react';
import { Button } from '../ui/button.tsx';

interface PartProps {
  /** What keeps its place until its code is there. */
  fallback?: ReactNode;
  /** It lies over the page. */
  isOver?: boolean;
  onDismiss?: () => void;
  children: ReactNode;
}

/** One that cannot be loaded leaves the rest of the page as it is, with what is typed there. */
export class Part extends Component<PartProps, { hasFailed: boolean }> {
  override state = { hasFailed: false };

  static getDerivedStateFromError() {
    return { hasFailed: true };
  }

  override render() {
    const { isOver = false, onDismiss, fallback, children } = this.props;
    if (!this.state.hasFailed) return <Suspense fallback={fallback}>{children}</Suspense>;
    return (
      <div
        role="alert"
        className={`flex flex-wrap items-center gap-2 ${isOver ? 'popover fixed bottom-4 left-4 z-50 p-3' : 'text-12'}`}
      >
        <p>This part could not be loaded.</p>
        <Button onPress={() => location.reload()}>Reload</Button>
        {onDismiss && <Button onPress={onDismiss}>Dismiss</Button>}
      </div>
    );
  }
}

/** After the first page has been shown, and before anybody is likely to need it. */
const PRELOAD_MS = 1_500;

/** Brings what has to be there at once when it is opened, or when the connection is gone. */
export function usePreload(load: () => Promise<unknown>): void {
  useEffect(() => {
    const timer = setTimeout(() => void load().catch(() => {}), PRELOAD_MS);
    return () => clearTimeout(timer);
  }, [load]);
}
