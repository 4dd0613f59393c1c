/** How to work on a hosted repository with git. */
import type { Repository } from '@headrace/client';
import { Link } from '@tanstack/react-router';
import { useIsAdmin } from '../../api/session.ts';
import { quoted } from '../../ui/quoted.ts';
import { Copied } from './scm-parts.tsx';

/** The address with a user name and, as the password, a key from the shell's environment. */
export function keyedUrl(cloneUrl: string): string {
  const at = cloneUrl.indexOf('://');
  return at < 0 ? cloneUrl : `${cloneUrl.slice(0, at + 3)}key:$HEADRACE_KEY@${cloneUrl.slice(at + 3)}`;
}

export function CloneCommands({
  repository: { name, cloneUrl, defaultBranch, provider },
}: {
  repository: Repository;
}) {
  const isAdmin = useIsAdmin();
  if (provider !== 'local')
    return (
      <div className="flex flex-col gap-3">
        <Copied label="Clone it with your own credentials" text={`git clone ${quoted(cloneUrl)}`} />
        <Copied
          label="Push a folder that is a repository already"
          text={`git push ${quoted(cloneUrl)} ${quoted(`HEAD:${defaultBranch}`)}`}
        />
      </div>
    );
  return (
    <div className="flex flex-col gap-3">
      <Copied
        label="Clone, with the command line: it gives git the key whenever git asks, and stores none in the clone"
        text={`headrace login\nheadrace repos clone ${name}`}
      />
      <Copied
        label="Clone, with git alone: a service key is the password, and any user name will do"
        text={`git clone "${keyedUrl(cloneUrl)}"`}
      />
      <Copied
        label="Push a folder that is a repository already"
        text={`git remote add headrace "${keyedUrl(cloneUrl)}"\ngit push headrace ${quoted(`HEAD:${defaultBranch}`)}`}
      />
      <p className="max-w-[72ch] text-ink-2">
        To clone takes a key with repo:read, to push one with repo:update.{' '}
        {isAdmin ? (
          <Link to="/organization/keys" className="link">
            Make a service key
          </Link>
        ) : (
          'An owner or admin makes you one.'
        )}{' '}
        git stores the second address with the key in the clone.
      </p>
    </div>
  );
}
