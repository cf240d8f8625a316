import { useChatModels } from '#src/platform/queries.ts';
import { Avatar } from '#src/ui/avatar.tsx';
import type { Pick } from './pick-list.tsx';

/** The chat models that fit the typed words, as they are offered beside the box. */
export const useModelPicks = (words: string, choose: (name: string) => void): Pick[] => {
  const sought = words.toLowerCase();
  return (useChatModels().data ?? [])
    .filter(({ label, name }) => `${label} ${name}`.toLowerCase().includes(sought))
    .map(({ name, label, remark, logo, color, factor }) => ({
      key: name,
      label,
      note: remark,
      tail: factor === 0 ? '免费' : `×${factor}`,
      lead: <Avatar name={label} src={logo} color={color} size={28} />,
      run: () => choose(name),
    }));
};
