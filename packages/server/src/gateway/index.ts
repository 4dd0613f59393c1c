export { openGateway, startGateway } from './gateway.ts';
