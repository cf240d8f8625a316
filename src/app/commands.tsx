import { useNavigate } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { inIdleTime } from '#src/platform/idle.ts';
import { lazyAsked } from '#src/platform/lazy-chunk.ts';
import { type CommandKey, useCommandKeys } from './use-command-keys.ts';

const load = () => import('./command-panels.tsx');
const CommandPanels = lazyAsked(load);

/** What the keyboard opens in windows that are wide enough for the side menu. */
export const Commands = () => {
  const navigate = useNavigate();
  const [open, setOpen] = useState<Exclude<CommandKey, 'new'> | null>(null);
  const run = (command: CommandKey) => {
    if (command === 'new') void navigate({ to: '/', search: { new: 1 } });
    else setOpen(command);
  };
  useCommandKeys(run);
  // What is typed right behind its key finds it there.
  useEffect(() => inIdleTime(() => void load().catch(() => undefined)), []);
  return (
    open && <CommandPanels key={open} open={open} onClose={() => setOpen(null)} onCommand={run} />
  );
};
