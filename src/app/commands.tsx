import { useNavigate } from '@tanstack/react-router';
import { Suspense, useState } from 'react';
import { lazyAsked } from '#src/platform/lazy-chunk.ts';
import { type CommandKey, useCommandKeys } from './use-command-keys.ts';

const CommandPanels = lazyAsked(() => import('./command-panels.tsx'));

/** What the keyboard opens in windows that are wide enough for the side menu. */
export const Commands = () => {
  const navigate = useNavigate();
  const [open, setOpen] = useState<Exclude<CommandKey, 'new'> | null>(null);
  const run = (command: CommandKey) => {
    if (command === 'new') void navigate({ to: '/', search: { new: 1 } });
    else setOpen(command);
  };
  useCommandKeys(run);
  return (
    <Suspense fallback={null}>
      {open && (
        <CommandPanels key={open} open={open} onClose={() => setOpen(null)} onCommand={run} />
      )}
    </Suspense>
  );
};
