/** What is typed for a new thread, kept by this browser until the thread exists. */
import { useState } from 'react';

export interface NewThreadDraft {
  content: string;
  title: string;
  /** Null: the app's own. */
  modelId: string | null;
  /** Where it starts, as typed; both empty: at the head, or the default branch. */
  branch: string;
  sourceId: string | null;
  /** In dollars. */
  spendLimit: string;
  trackerIssueUrl: string;
  taskId: string | null;
}

const EMPTY: NewThreadDraft = {
  content: '',
  title: '',
  modelId: null,
  branch: '',
  sourceId: null,
  spendLimit: '',
  trackerIssueUrl: '',
  taskId: null,
};
const MOST_TITLE = 80;

/** `keptName` is that of `useKeptName`. */
export function useDraftOfThread(keptName: string): {
  draft: NewThreadDraft;
  change: (part: Partial<NewThreadDraft>) => void;
  /** Drops the draft that was sent; another one that is kept by now stays. */
  clear: (sent: NewThreadDraft) => void;
} {
  const name = `headrace:${keptName}`;
  const [draft, setDraft] = useState(() => read(name));
  return {
    draft,
    change(part) {
      const next = { ...draft, ...part };
      setDraft(next);
      try {
        localStorage.setItem(name, JSON.stringify(next));
      } catch {
        // Without storage it lasts as long as the page.
      }
    },
    clear(sent) {
      setDraft(EMPTY);
      try {
        if (JSON.stringify(read(name)) === JSON.stringify(sent)) localStorage.removeItem(name);
      } catch {
        // The thread is there: that the draft is too is no reason to stop.
      }
    },
  };
}

function read(name: string): NewThreadDraft {
  try {
    return { ...EMPTY, ...(JSON.parse(localStorage.getItem(name) ?? '{}') as Partial<NewThreadDraft>) };
  } catch {
    return EMPTY;
  }
}

/** The title that was typed, else the message's first line, cut between words. */
export function titleFor({ title, content }: Pick<NewThreadDraft, 'title' | 'content'>): string {
  if (title.trim()) return title.trim();
  const line =
    content
      .split('\n')
      .map((one) => one.trim())
      .find((one) => one && !one.startsWith('```')) ?? '';
  if (line.length <= MOST_TITLE) return line;
  const cut = line.slice(0, MOST_TITLE - 1);
  const end = cut.lastIndexOf(' ');
  return `${end > 0 ? cut.slice(0, end).trimEnd() : cut}…`;
}
