-- Numbers the connections of hosts as they are dialed: hosts.epoch is the number of the one that counts.
create sequence host_connections;
select setval('host_connections', (select coalesce(max(epoch), 0) + 1 from hosts));
