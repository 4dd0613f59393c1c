import { write } from '../http/operation.ts';
import { Ok } from '../http/schemas.ts';
import { scopeOf } from '../projects/index.ts';
import { changePreview } from './change-preview.ts';
import { loadPreview } from './policy.ts';
import { Preview } from './schemas.ts';
import { previewView } from './view.ts';

export const deletePreview = write({
  name: 'previews.deletePreview',
  summary: 'Stop a preview; it stays readable',
  access: { permissions: ['thread:update'] },
  responses: { 200: Ok({ preview: Preview }) },
  async handle(tx, call) {
    const { preview, project } = await loadPreview(tx.db, call);
    await changePreview(tx, project, preview.id, { event: 'stop' });
    const { preview: now } = await loadPreview(tx.db, call);
    return { status: 200, body: { ok: true, preview: previewView(call.ctx, now) }, scope: scopeOf(project) };
  },
});
