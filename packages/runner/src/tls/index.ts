/** The encrypted link between workers and runners, imported as `@headrace/runner/tls`. */
export { TlsAgent } from './agent.ts';
export { askPeer } from './ask-peer.ts';
export { addressText, connectTls, parseAddress, type Address, type TlsTarget } from './connect.ts';
export { TlsCredentials, TlsFault, type CertificateFacts, type TlsFiles } from './credentials.ts';
export { ownFaults } from './own-faults.ts';
export { hasRole, hostsOf, roleUri, rolesOf, TLS_ROLES, type TlsRole } from './peer-roles.ts';
export { createTlsServer } from './server.ts';
