import type { Draft, HeadraceEvent } from '@headrace/client';
import type { ReactNode } from 'react';
import type { Live, LiveStatus } from './start.ts';
export const LiveProvider = ({ children }: { live: Live | null; children: ReactNode }) => <>{children}</>;
export const useLive = (): Live | null => null;
const STATUS: LiveStatus = {
  state: 'connecting',
  dataAt: null,
  reason: null,
  gapAt: null,
  nextAttemptAt: null,
};
export const useLiveStatus = (): LiveStatus => STATUS;
export const useDraft = (_appId: string, _threadId: string): Draft | null => null;
export const useEvents = (_listener: (events: HeadraceEvent[]) => void): void => {};
