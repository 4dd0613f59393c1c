import { cookies } from 'next/headers';
import { Builder } from './builder.js';

export default async function Page() {
  const user = (await cookies()).get('user')?.value;
  if (user) return <Builder user={user} />;
  return (
    <form className="sign-in" method="post" action="/sign-in">
      <label>
        Your name <input name="user" required pattern="[A-Za-z0-9\-]{1,40}" title="Letters, digits and hyphens" />
      </label>
      <button>Start</button>
    </form>
  );
}
