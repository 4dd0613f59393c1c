import { Link } from '@tanstack/react-router';
import type { LinkProps } from '@tanstack/react-router';

export interface PartLink extends Pick<LinkProps, 'to' | 'params'> {
  text: string;
  /** Not for the pages below it. */
  exact?: boolean;
}

const LINK = 'flex items-center border-b-2 px-1 py-2 whitespace-nowrap sm:px-2';

/** What has several pages: its name, and links to them. */
export const PartsNav = ({ label, name, parts }: { label: string; name: string; parts: PartLink[] }) => (
  <nav
    aria-label={label}
    className="flex flex-wrap items-stretch border-b border-line px-3 sm:flex-nowrap sm:gap-x-1 sm:overflow-x-auto sm:px-4"
  >
    <span className="w-full truncate px-1 pt-2 font-bold sm:w-auto sm:max-w-48 sm:min-w-16 sm:py-2 sm:pr-3 sm:pl-0">
      {name}
    </span>
    {parts.map(({ text, exact = false, ...to }) => (
      <Link
        key={text}
        {...to}
        activeOptions={{ exact, includeSearch: false }}
        className={`${LINK} border-transparent text-ink-2 hover:text-ink`}
        activeProps={{ className: `${LINK} border-water text-ink`, 'aria-current': 'page' }}
      >
        {text}
      </Link>
    ))}
  </nav>
);
