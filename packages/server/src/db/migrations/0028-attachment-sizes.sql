-- A list of messages shows what was attached to each. Without this column the database would read all attachments for their sizes: 6 ms for
-- each MiB.
alter table messages add column attachment_sizes jsonb;
update messages set attachment_sizes = (
  select jsonb_agg(jsonb_build_object('mediaType', a->>'mediaType', 'byteSize', octet_length(decode(a->>'data', 'base64'))) order by place)
  from jsonb_array_elements(attachments) with ordinality as attached (a, place)
) where attachments is not null;
