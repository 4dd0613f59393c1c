import { getRouteApi, useRouter } from '@tanstack/react-router';
import { useQueryClient } from '@tanstack/react-query';
import { sessionQuery } from '../../api/session.ts';
import { useTitle } from '../../ui/page.tsx';
import { samePage } from './same-page.ts';
import { SignInForm } from './sign-in-form.tsx';

const route = getRouteApi('/sign-in');

/** Signs in, then returns to the page that was asked for. */
export function SignInPage() {
  const { to } = route.useSearch();
  const router = useRouter();
  const queries = useQueryClient();
  useTitle('Sign in');
  const goOn = async () => {
    queries.clear();
    await queries.fetchQuery({ ...sessionQuery, staleTime: 0 });
    await router.navigate({ href: samePage(to), replace: true });
  };
  return (
    <main className="mx-auto flex min-h-dvh w-full max-w-[360px] flex-col justify-center gap-6 p-6">
      <h1 className="text-26 font-bold">Headrace</h1>
      <SignInForm onDone={() => void goOn()} />
    </main>
  );
}
