/** Tabs share the session, and so the organization in which every request acts: who changes it tells the others. */
import { useEffect, useState } from 'react';

let channel: BroadcastChannel | null = null;

/** To be called when this tab has chosen an organization. */
export function tellOrganization(organizationId: string | null): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a BroadcastChannel has none
  channel?.postMessage(organizationId);
}

/** Whether another tab has left the organization of this page, and how to return to it after that. */
export function useOtherOrganization(
  userId: string,
  organizationId: string | null,
): { isOther: boolean; claim: () => void } {
  const [isOther, setOther] = useState(false);
  useEffect(() => {
    const opened = new BroadcastChannel(`headrace:${userId}`);
    opened.addEventListener('message', ({ data }) => setOther(data !== organizationId));
    channel = opened;
    // A new sign-in has its first organization, whatever the other tabs show.
    tellOrganization(organizationId);
    return () => {
      opened.close();
      if (channel === opened) channel = null;
    };
  }, [userId, organizationId]);
  const claim = () => {
    setOther(false);
    tellOrganization(organizationId);
  };
  return { isOther, claim };
}
