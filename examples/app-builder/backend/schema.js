/** The tables, for PGlite and for PostgreSQL. */
export const SCHEMA = `
  create table if not exists apps (id text primary key, owner text, head_source_id text, revision integer);
  create table if not exists activity (event_id text primary key, app_id text not null, type text not null, at timestamptz not null);
  create index if not exists activity_of_app on activity (app_id, at);
  create table if not exists feed (only_row boolean primary key default true check (only_row), cursor text not null);
`;
