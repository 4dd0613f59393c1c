/** The frame of a page: title, actions, content. */
import { useEffect } from 'react';
import type { ReactNode } from 'react';

/** `title` is also the window's. */
export function Page({
  title,
  heading,
  actions,
  children,
}: {
  title: string;
  /** Shown instead of the title's text. */
  heading?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
}) {
  useTitle(title);
  return (
    <div className="flex min-w-0 grow flex-col">
      <header className="flex flex-wrap items-center gap-x-4 gap-y-2 px-4 pt-4 pb-3">
        <h1 tabIndex={-1} className="long mr-auto text-19 font-bold outline-none">
          {heading ?? title}
        </h1>
        {actions && (
          <div className="flex flex-wrap items-center gap-2 max-sm:has-[[data-find]]:w-full">{actions}</div>
        )}
      </header>
      {children}
    </div>
  );
}

/** A part of a page with a small heading. */
export function Section({
  title,
  actions,
  children,
}: {
  title: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
}) {
  return (
    <section className="-mt-px min-w-0 border-t border-line">
      <div className="flex min-h-9 items-center gap-3 px-4 py-1">
        <h2 tabIndex={-1} className="mr-auto font-bold">
          {title}
        </h2>
        {actions}
      </div>
      {children}
    </section>
  );
}

/** Names and values, aligned. */
export function Facts({ children }: { children: ReactNode }) {
  return (
    <dl className="grid grid-cols-[minmax(88px,max-content)_minmax(0,1fr)] gap-x-4 gap-y-1 px-4 py-2">
      {children}
    </dl>
  );
}

export function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <>
      <dt className="text-ink-3">{name}</dt>
      <dd className="long flex min-h-5 items-center gap-2">{children}</dd>
    </>
  );
}

export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · Headrace`;
  }, [title]);
}
