import { Plain } from '../code/plain.tsx';
import { safeHref } from './safe-href.ts';

/** A link to somebody else's page; one with another scheme than HTTP's is only its text. */
export function OutsideLink({ href, text }: { href: string; text: string }) {
  const safe = safeHref(href);
  if (safe === null)
    return (
      <span title={href}>
        <Plain text={text} />
      </span>
    );
  return (
    <a href={safe} title={safe} target="_blank" rel="noopener noreferrer" className="link">
      <Plain text={text} />
    </a>
  );
}
