import { html } from '../html.js';
import { header } from './header.js';
import { failureBox, noticeBox } from './notice.js';

/** The whole page: header, notices and what the current page renders. */
export function shell(view) {
  const { content, failure, location, notice, preview, t } = view;
  return html`
    ${header(view)}
    <main class="page">
      ${preview && html`<p class="preview-note">${t('app.preview')}</p>`}
      ${failure && failureBox(failure, t)}
      ${notice && noticeBox(notice)}
      ${content !== null && location.route.page.render(content, view)}
    </main>`;
}
