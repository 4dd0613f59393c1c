import { Page } from '../../ui/page.tsx';

export function PreviewsPage() {
  return <Page title="Previews">{null}</Page>;
}
