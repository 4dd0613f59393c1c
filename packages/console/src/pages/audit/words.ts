/** Who acts where nobody is named. */
export const SERVICE = 'Headrace';

/** Those whose name alone would not say it. */
const WORDS: Record<string, string> = {
  'session.created': 'Signed in',
  'session.ended': 'Session ended',
  'session.switched': 'Came from another organization',
  'member.invited': 'Person invited',
  'member.joined': 'Invitation accepted',
  'member.updated': 'Role changed',
  'credential.created': 'Key made',
  'credential.revoked': 'Key revoked',
  'model_key.set': 'Provider’s key set',
  'model_key.deleted': 'Provider’s key deleted',
  'mcp_server.created': 'MCP server created',
  'mcp_server.updated': 'MCP server updated',
  'mcp_server.deleted': 'MCP server deleted',
};

/** `service_account.created` as words; an action that this console does not know reads well enough by its name. */
export function wordsOf(action: string): string {
  const known = WORDS[action];
  if (known !== undefined) return known;
  const text = action.replaceAll(/[._]+/g, ' ').trim();
  return text.charAt(0).toUpperCase() + text.slice(1);
}
