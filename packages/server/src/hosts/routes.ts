import { directRoute } from '../http/operation.ts';
import type { Route } from '../http/operation.ts';
import { connectHost } from './connect-host.ts';
import { createHost } from './create-host.ts';
import { deleteHost } from './delete-host.ts';
import { getHost } from './get-host.ts';
import { listBindings } from './list-bindings.ts';
import { listHosts } from './list-hosts.ts';
import { rotateToken } from './rotate-token.ts';
import { updateHost } from './update-host.ts';

const HOST = '/hosts/:hostId';

export const routes: Route[] = [
  directRoute('POST', '/hosts', createHost),
  directRoute('GET', '/hosts', listHosts),
  directRoute('GET', '/hosts/connect', connectHost),
  directRoute('GET', HOST, getHost),
  directRoute('PATCH', HOST, updateHost),
  directRoute('DELETE', HOST, deleteHost),
  directRoute('POST', `${HOST}/token`, rotateToken),
  directRoute('GET', `${HOST}/bindings`, listBindings),
];
