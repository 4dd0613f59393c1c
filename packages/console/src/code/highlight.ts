import { useEffect, useState } from 'react';
import type { Answer, Question } from './highlight.worker.ts';
import type { Language } from './language.ts';
import { MAX_HIGHLIGHTED } from './limits.ts';
import type { Highlights } from './tokens.ts';

/** A worker that has not answered after so long is ended; a grammar loads within. */
const PATIENCE = 10_000;
/** Of all texts in the cache, in characters. */
const CACHED = 8 * 1024 * 1024;

interface Wish {
  question: Question;
  settle: (highlights: Highlights | null) => void;
}

const cache = new Map<string, { highlights: Highlights | null; size: number }>();
let cached = 0;
let worker: Worker | undefined;
let asked: Wish | undefined;
let timer: ReturnType<typeof setTimeout> | undefined;
let lastId = 0;
const wishes: Wish[] = [];

/**
 * Colours of `text`, undefined until they are there; null for plain text.
 * @param key names the text for good, for example by its SHA-256; null: there is no text yet
 */
export function useHighlights(
  key: string | null,
  text: string,
  language: Language | null,
): Highlights | null | undefined {
  const name = key === null || language === null ? null : `${language}:${key}`;
  const [found, setFound] = useState<{ name: string | null; highlights: Highlights | null }>();
  const known = name === null ? undefined : cache.get(name)?.highlights;
  useEffect(() => {
    if (name === null || language === null || cache.has(name)) return;
    if (text.length > MAX_HIGHLIGHTED) return;
    const wish: Wish = {
      question: { id: ++lastId, text, language },
      settle: (highlights) => {
        remember(name, highlights, text.length);
        setFound({ name, highlights });
      },
    };
    wishes.push(wish);
    next();
    return () => {
      // What nobody looks at any more is not asked for.
      const index = wishes.indexOf(wish);
      if (index >= 0) wishes.splice(index, 1);
    };
  }, [name, text, language]);
  if (language === null) return null;
  return known ?? (found?.name === name ? found.highlights : undefined);
}

/** One question at a time: the newest first, as it is the one on the screen. */
function next(): void {
  if (asked !== undefined) return;
  asked = wishes.pop();
  if (asked === undefined) return;
  worker ??= start();
  timer = setTimeout(() => {
    worker?.terminate();
    worker = undefined;
    answer(null);
  }, PATIENCE);
  worker.postMessage(asked.question, []);
}

function start(): Worker {
  const made = new Worker(new URL('./highlight.worker.ts', import.meta.url), { type: 'module' });
  made.addEventListener('message', (event: MessageEvent<Answer>) => {
    if (event.data.id === asked?.question.id) answer(event.data.highlights);
  });
  made.addEventListener('error', () => {
    if (made === worker) answer(null);
  });
  return made;
}

function answer(highlights: Highlights | null): void {
  clearTimeout(timer);
  const wish = asked;
  asked = undefined;
  wish?.settle(highlights);
  next();
}

function remember(name: string, highlights: Highlights | null, size: number): void {
  cache.set(name, { highlights, size });
  cached += size;
  for (const [old, entry] of cache) {
    if (cached <= CACHED) return;
    cache.delete(old);
    cached -= entry.size;
  }
}
