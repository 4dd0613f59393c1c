import type { Comment } from '@headrace/client';
import { useQueryClient } from '@tanstack/react-query';
import { client } from '../../api/client.ts';
import { commentsQuery } from '../../api/repositories-queries.ts';
import { useOffReason, useWrite } from '../../api/write.ts';
import { AsCode } from '../../ui/as-code.tsx';
import { Button } from '../../ui/button.tsx';
import { FaultLine } from '../../ui/fault-line.tsx';
import { worded } from './words.ts';

/** Resolves a review thread, or opens it again. */
export function Resolve({
  repositoryId,
  number,
  comment: { id, resolved },
  onResolved,
}: {
  repositoryId: string;
  number: string;
  comment: Comment;
  onResolved: () => void;
}) {
  const queries = useQueryClient();
  const off = useOffReason();
  const body = { resolved: !resolved };
  const write = useWrite({
    intent: `resolve ${id}`,
    call: (input: typeof body, options) =>
      worded(client.scm.updateComment(repositoryId, number, id, input, options)),
    onDone: () => {
      onResolved();
      void queries.invalidateQueries({ queryKey: commentsQuery(repositoryId, number).queryKey });
    },
  });
  return (
    <>
      <Button isPending={write.isSending} offBecause={off} onPress={() => write.send(body)}>
        {resolved ? 'Open it again' : 'Resolve'}
      </Button>
      <AsCode
        method="PATCH"
        path={`/api/source-control/scm/repositories/${repositoryId}/pull-requests/${number}/comments/${id}`}
        body={body}
        ts={`await client.scm.updateComment('${repositoryId}', ${number}, '${id}', ${JSON.stringify(body)});`}
        cli={`headrace comments resolve ${repositoryId} ${number} ${id}${resolved ? ' --open' : ''}`}
      />
      <FaultLine fault={write.fault} />
    </>
  );
}
