import { Dialog } from '../../ui/dialog.tsx';
import { SignInForm } from './sign-in-form.tsx';

/** Over the page of a session that has ended: nothing on it is lost. */
export function SignInDialog({ email, onDone }: { email: string; onDone: () => void }) {
  return (
    <Dialog title="Sign in to go on" isHeld isOpen onClose={() => {}}>
      <p className="text-ink-2">Your session has ended. What you typed is still here.</p>
      <SignInForm email={email} onDone={onDone} />
    </Dialog>
  );
}
