import { Sample } from '../../ui/as-code.tsx';
import { Button } from '../../ui/button.tsx';
import { CopyButton } from '../../ui/values.tsx';
import { commandOf } from './words.ts';

/** The only time that a token is shown; null: its answer was lost on the way. */
export function TokenShown({ token, onClose }: { token: string | null; onClose: () => void }) {
  return (
    <>
      {token === null ? (
        <p className="text-ink-2">
          The first answer was lost, and with it the token: it is never shown a second time. Make a new one
          with “New token” on the host’s page.
        </p>
      ) : (
        <>
          <p className="text-ink-2">
            With it the machine connects. Store it there: nobody is shown it again.
          </p>
          <div>
            <span className="label">Token</span>
            <p className="flex items-center gap-1 rounded bg-sunk py-0.5 pl-2">
              <code aria-label="Token" className="long grow font-mono text-mono">
                {token}
              </code>
              <CopyButton text={token} label="Copy the token" />
            </p>
          </div>
          <Sample name="On the machine" text={commandOf(window.location.origin)} />
        </>
      )}
      <div className="flex justify-end">
        <Button kind="primary" autoFocus onPress={onClose}>
          {token === null ? 'Close' : 'I have stored it'}
        </Button>
      </div>
    </>
  );
}
