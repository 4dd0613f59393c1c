export interface Follows {
  types: readonly string[];
  appId?: string;
  threadId?: string;
  runId?: string;
  ids?: readonly string[];
}
declare module '@tanstack/react-query' {
  interface Register {
    queryMeta: { follows?: Follows };
  }
}
