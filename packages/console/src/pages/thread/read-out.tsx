/** Reads a reply out as it grows, for screen readers. */
import { useEffect, useRef, useState } from 'react';
import { useDraft } from '../../live/index.ts';
import { createAnnouncer } from './announce.ts';
import { useThread } from './context.ts';

/** A reply can be in progress, or begin. */
const AT_WORK: string[] = ['queued', 'running', 'waiting'];
const KEPT = 'headrace:read-out';
const AGAIN_MS = 1_000;

export const isReadOutOn = (): boolean => localStorage.getItem(KEPT) !== 'off';
export const setReadOut = (on: boolean): void => localStorage.setItem(KEPT, on ? 'on' : 'off');

export function ReadOut({ isOn }: { isOn: boolean }) {
  const place = useThread();
  const draft = useDraft(place, AT_WORK.includes(place.thread.status));
  const [said, setSaid] = useState('');
  const announcer = useRef(createAnnouncer());
  const latest = useRef('');
  const messageId = draft?.messageId ?? null;
  useEffect(() => {
    latest.current = draft?.content ?? latest.current;
  }, [draft]);
  useEffect(() => {
    if (!isOn || messageId === null) return;
    announcer.current = createAnnouncer();
    latest.current = '';
    const hear = (isDone: boolean) => {
      const words = announcer.current.hear(latest.current, performance.now(), isDone);
      if (words !== null) setSaid(words);
    };
    const timer = setInterval(() => hear(false), AGAIN_MS);
    return () => {
      clearInterval(timer);
      hear(true);
    };
  }, [isOn, messageId]);
  return (
    <div aria-live="polite" className="sr-only">
      {isOn && said}
    </div>
  );
}
