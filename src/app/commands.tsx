import { useNavigate } from '@tanstack/react-router';
import { Suspense, useRef, useState } from 'react';
import { lazyAsked } from '#src/platform/lazy-chunk.ts';
import { type CommandKey, useCommandKeys } from './use-command-keys.ts';

const CommandPanels = lazyAsked(() => import('./command-panels.tsx'));

/** What the keyboard opens in windows that are wide enough for the side menu. */
export const Commands = () => {
  const navigate = useNavigate();
  const [open, setOpen] = useState<Exclude<CommandKey, 'new'> | null>(null);
  // What is typed before the palette is there is not lost.
  const typed = useRef('');
  const run = (command: CommandKey) => {
    if (command === 'new') void navigate({ to: '/', search: { new: 1 } });
    else {
      typed.current = '';
      setOpen(command);
    }
  };
  useCommandKeys(run);
  const early = open === 'palette' && (
    <input
      autoFocus
      className="sr-only"
      aria-label="搜索和命令"
      onChange={({ target }) => {
        typed.current = target.value;
      }}
    />
  );
  return (
    <Suspense fallback={early}>
      {open && (
        <CommandPanels
          key={open}
          open={open}
          begun={() => typed.current}
          onClose={() => setOpen(null)}
          onCommand={run}
        />
      )}
    </Suspense>
  );
};
