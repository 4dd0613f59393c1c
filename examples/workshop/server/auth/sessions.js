import { createHash, randomBytes } from 'node:crypto';

const LIFETIME_MS = 12 * 60 * 60 * 1000;
const MAX_SESSIONS = 5000;

/** Open sessions, in memory only: a restart signs everybody out, which is a feature at a shared desk. */
export function createSessions(now = Date.now) {
  const sessions = new Map();
  // Only digests are kept, so that a heap dump gives no usable token away.
  const digest = (token) => createHash('sha256').update(token).digest('base64url');

  return {
    open(memberId) {
      if (sessions.size >= MAX_SESSIONS) sessions.delete(sessions.keys().next().value);
      const token = randomBytes(24).toString('base64url');
      sessions.set(digest(token), { memberId, expires: now() + LIFETIME_MS });
      return token;
    },
    find(token) {
      if (!token) return null;
      const session = sessions.get(digest(token));
      if (!session || session.expires <= now()) return null;
      return session.memberId;
    },
    close(token) {
      if (token) sessions.delete(digest(token));
    },
    /** Ends every session of a member, for example when the password changed. */
    closeAll(memberId) {
      for (const [key, session] of sessions) if (session.memberId === memberId) sessions.delete(key);
    },
  };
}
