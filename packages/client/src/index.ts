export type { Bound, Call, ListCall, WorkCall } from './call.ts';
export { createClient } from './client.ts';
export type {
  AppHandle,
  AppThreadHandle,
  Client,
  ProjectHandle,
  RequestOptions,
  ThreadHandle,
} from './client.ts';
export { HeadraceError, isCode, UncertainError, WaitTimeoutError } from './errors.ts';
export type { ClientErrorCode, Code, DetailsOf, Field } from './errors.ts';
export type {
  AppFeed,
  DirectFeed,
  Draft,
  EventListOptions,
  EventPage,
  Events,
  Feed,
  ReaderState,
  ReplayOptions,
  ResetCode,
  StreamItem,
  StreamOptions,
  ViewOptions,
} from './events/index.ts';
export type { FollowItem, FollowOptions } from './follow/index.ts';
export type * from './generated/methods.ts';
export type * from './generated/types.ts';
export type { Bytes, ClientOptions } from './http.ts';
export type { CallOptions, DoneOptions, Page, PageOptions, ResponseInfo, WriteOptions } from './options.ts';
export { compactResolutions, MAX_RESOLUTIONS } from './resolutions.ts';
