import { Sample } from '../../ui/as-code.tsx';
import { ShownOnce } from '../../ui/shown-once.tsx';
import { commandOf } from './words.ts';

/** The only time that a token is shown; null: its answer was lost on the way. */
export function TokenShown({ token, onClose }: { token: string | null; onClose: () => void }) {
  return (
    <ShownOnce label="Token" secret={token} onClose={onClose}>
      {token === null ? (
        <p>
          The first answer was lost, and with it the token: it is never shown a second time. Make a new one
          with “New token” on the host’s page.
        </p>
      ) : (
        <>
          <p>With it the machine connects. Store it there: nobody is shown it again.</p>
          <Sample name="On the machine" text={commandOf(window.location.origin)} />
        </>
      )}
    </ShownOnce>
  );
}
