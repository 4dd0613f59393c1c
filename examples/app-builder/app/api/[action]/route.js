import { backend } from '../../../backend/server.js';

export const dynamic = 'force-dynamic';
const handle = async (request) => (await backend())(request);
export { handle as GET, handle as POST };
