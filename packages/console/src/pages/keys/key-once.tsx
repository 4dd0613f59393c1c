import { Plain } from '../../code/plain.tsx';
import { ShownOnce } from '../../ui/shown-once.tsx';
import { Time } from '../../ui/values.tsx';

export interface MadeKey {
  name: string;
  /** Null: the answer that had it was lost. */
  key: string | null;
  expiresAt: string;
}

/** `isFirst`: of a new account, which has no other. */
export function KeyOnce({
  made: { name, key, expiresAt },
  isFirst,
  onClose,
}: {
  made: MadeKey;
  isFirst: boolean;
  onClose: () => void;
}) {
  return (
    <ShownOnce label="Key" secret={key} onClose={onClose}>
      {key === null ? (
        <p>
          The key was made, but it was in an answer that was lost. Make another one for this account, and
          revoke the newest of the others.
        </p>
      ) : (
        <>
          <p className="long">
            Of <Plain text={name} />. It is shown only now, and valid until it expires <Time at={expiresAt} />{' '}
            or is revoked. Keep it on a backend, never in a page or an app that others have.
          </p>
          {!isFirst && (
            <p>The former keys stay valid, so nothing stops: put this one in use, then revoke them.</p>
          )}
        </>
      )}
    </ShownOnce>
  );
}
