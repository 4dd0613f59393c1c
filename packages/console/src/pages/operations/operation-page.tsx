import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { operationQuery } from '../../api/running-queries.ts';
import { Page } from '../../ui/page.tsx';
import { Shown } from '../../ui/states.tsx';
import { Id } from '../../ui/values.tsx';
import { OperationView } from './operation-view.tsx';

const route = getRouteApi('/signed-in/operations/$operationId');

export function OperationPage() {
  const { operationId } = route.useParams();
  const query = useQuery(operationQuery(operationId));
  return (
    <Page
      title={`Operation …${operationId.slice(-6)}`}
      heading={
        <span className="flex flex-wrap items-center gap-3">
          Operation <Id value={operationId} />
        </span>
      }
      actions={
        <Link to="/operations" className="link">
          Look up another one
        </Link>
      }
    >
      <Shown query={query}>{(operation) => <OperationView operation={operation} />}</Shown>
    </Page>
  );
}
