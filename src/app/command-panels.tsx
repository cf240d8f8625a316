import { CommandPalette } from './command-palette.tsx';
import { KeyList } from './key-list.tsx';
import type { CommandKey } from './use-command-keys.ts';

/** What the keys of commands open; one file, since the palette leads to the list. */
export default function CommandPanels({
  open,
  onClose,
  onCommand,
}: {
  open: 'palette' | 'keys';
  onClose: () => void;
  onCommand: (command: CommandKey) => void;
}) {
  if (open === 'keys') return <KeyList onClose={onClose} />;
  return <CommandPalette onClose={onClose} onCommand={onCommand} />;
}
