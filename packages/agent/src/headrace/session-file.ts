import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { ModelMessage } from 'ai';

const VERSION = 1;

interface Saved {
  version: number;
  sessionId: string;
  messages: ModelMessage[];
}

/** Replaces the file atomically: after a kill the previous one is still there. */
export function saveSession(file: string, sessionId: string, messages: ModelMessage[]): void {
  mkdirSync(dirname(file), { recursive: true });
  const saved: Saved = { version: VERSION, sessionId, messages };
  writeFileSync(`${file}.new`, JSON.stringify(saved), { mode: 0o600 });
  renameSync(`${file}.new`, file);
}

/**
 * Undefined when the file is missing, unreadable, or another session's: the client then sends the
 * conversation again.
 */
export function loadSession(file: string, sessionId: string): ModelMessage[] | undefined {
  try {
    const saved = JSON.parse(readFileSync(file, 'utf8')) as Saved;
    if (saved.version !== VERSION || saved.sessionId !== sessionId || !Array.isArray(saved.messages))
      return undefined;
    return closed(saved.messages.filter((message) => ['user', 'assistant', 'tool'].includes(message?.role)));
  } catch {
    return undefined;
  }
}

/**
 * A killed turn left a question without an answer; the model would answer it now, before the next request.
 */
function closed(messages: ModelMessage[]): ModelMessage[] {
  const last = messages.at(-1);
  if (
    !last ||
    (last.role === 'assistant' &&
      !(Array.isArray(last.content) && last.content.some((part) => part.type === 'tool-call')))
  )
    return messages;
  const kept = last.role === 'assistant' ? messages.slice(0, -1) : messages;
  return [
    ...kept,
    {
      role: 'assistant',
      content:
        '[This turn was interrupted. What it had changed in the workspace may have been undone since.]',
    },
  ];
}
