/** Of the cluster, in a network namespace of its own. */

/** The control plane's, the nodes', the names' and the database's. */
export const ADDRESS = '10.99.0.1';
export const SERVICE_RANGE = '10.98.0.0/16';
/** Each node has 256 of it. */
export const POD_RANGE = '10.97.0.0/16';
export const DOMAIN = 'cluster.local';
