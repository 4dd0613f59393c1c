/** A fork from a checkpoint. */
import { lazy, Suspense, useState } from 'react';
import { useMay } from '../../api/session.ts';
import { useOffReason } from '../../api/write.ts';
import { Button } from '../../ui/button.tsx';

const ForkDialog = lazy(async () => ({ default: (await import('./fork-dialog.tsx')).ForkDialog }));

export function ForkHere({ checkpointId }: { checkpointId: string }) {
  const [isOpen, setOpen] = useState(false);
  const offBecause = useOffReason();
  const mayFork = useMay('thread:create');
  return (
    <>
      <Button
        kind="quiet"
        aria-label="Fork from here"
        onPress={() => setOpen(true)}
        offBecause={mayFork ? offBecause : 'Your role may not start threads.'}
      >
        Fork
      </Button>
      <Suspense>
        {isOpen && <ForkDialog checkpointId={checkpointId} onClose={() => setOpen(false)} />}
      </Suspense>
    </>
  );
}
