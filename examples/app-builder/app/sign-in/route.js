/** A sign-in for demonstration: replace it with your own. */
export async function POST(request) {
  const user = String((await request.formData()).get('user') ?? '').trim().toLowerCase();
  const headers = { location: '/' };
  if (/^[a-z0-9-]{1,40}$/.test(user)) headers['set-cookie'] = `user=${user}; Path=/; HttpOnly; SameSite=Lax`;
  return new Response(null, { status: 303, headers });
}
