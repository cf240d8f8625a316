import { maskName } from '#src/platform/format.ts';
import { Avatar } from '#src/ui/avatar.tsx';
import { useChatActs } from '#src/widgets/conversation/chat-context.ts';
import { useModelPicks } from '#src/widgets/composer/model-picks.tsx';
import { PickList, type Pick, type TakeKeys } from '#src/widgets/composer/pick-list.tsx';

interface Person {
  id: number;
  name: string;
}

/** Who wrote here beside oneself, the newest first. */
const usePeoplePicks = (words: string, choose: (person: Person) => void): Pick[] => {
  const { thread, me } = useChatActs();
  const people = new Map<number, string>();
  for (const row of thread.store.get().rows.toReversed())
    if (row.kind === 'question' && row.message.id > 0 && row.message.user_id !== me)
      people.set(row.message.user_id, maskName(row.message.user_name));
  return [...people]
    .filter(([, name]) => name.toLowerCase().includes(words.toLowerCase()))
    .map(([id, name]) => ({
      key: `person${id}`,
      label: name,
      note: '回复他，他会收到消息',
      lead: <Avatar name={name} size={28} />,
      run: () => choose({ id, name }),
    }));
};

/** People and models over the text box, those alone that fit what was typed behind the @. */
export const AtList = ({
  value,
  words,
  onKeys,
  onClose,
  onChoose,
  onPerson,
}: {
  /** The one that is chosen. */
  value: string;
  words: string;
  onKeys: TakeKeys;
  onClose: () => void;
  onChoose: (name: string) => void;
  onPerson: (person: Person) => void;
}) => {
  const people = usePeoplePicks(words, onPerson);
  const models = useModelPicks(words, onChoose);
  const picks = [...people, ...models];
  if (picks.length === 0) return null;
  return (
    <PickList
      label="请谁回答"
      picks={picks}
      first={Math.max(
        0,
        picks.findIndex(({ key }) => key === value),
      )}
      onKeys={onKeys}
      onClose={onClose}
    />
  );
};
