// A stand-in until the gateway's own index is here: GATEWAY replaces this file.
import { createHmac } from 'node:crypto';
import type { Db } from '../db/database.ts';
import type { RunRow } from '../db/schema.ts';

export const runToken = (secretKey: Buffer, runId: string): string => createHmac('sha256', secretKey).update(`headrace run token ${runId}`).digest('base64url');
export async function spendRefusal(_db: Db, _run: RunRow): Promise<{ code: 'spend_limit_reached'; message: string } | null> { return null; }
