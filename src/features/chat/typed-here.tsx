import { sessionTypes } from '#contract/kinds.ts';
import { maskName } from '#src/platform/format.ts';
import TypedList, { type Named } from '#src/widgets/template/typed-list.tsx';
import { useChatActs } from '#src/widgets/conversation/chat-context.ts';
import type { TakeKeys } from '#src/widgets/composer/pick-list.tsx';
import type { BoxState } from './box-state.ts';
import { useChoices } from './chat-choices.ts';
import { setCompose, useCompose } from './compose-store.ts';

/** Who wrote here beside oneself, the newest first; in a session of people they can be answered. */
const usePeople = ({ uuid, type }: BoxState['session']): Named[] => {
  const { thread, me } = useChatActs();
  if (type !== sessionTypes.people) return [];
  const people = new Map<number, string>();
  for (const row of thread.store.get().rows.toReversed())
    if (row.kind === 'question' && row.message.id > 0 && row.message.user_id !== me)
      people.set(row.message.user_id, maskName(row.message.user_name));
  return [...people].map(([id, name]) => ({
    id,
    name,
    note: '回复对方，对方会收到消息',
    run: () => setCompose(uuid, { atUser: { id, name } }),
  }));
};

/** What may be meant behind / and @ in a conversation. */
const TypedHere = ({ state, onKeys }: { state: BoxState; onKeys: TakeKeys }) => {
  const { session, text, setText, target } = state;
  const { uuid, type, model } = session;
  const { ai } = useCompose(uuid);
  const [, choose] = useChoices(uuid);
  const people = usePeople(session);
  const asksPeople = type === sessionTypes.people;
  return (
    <TypedList
      text={text}
      type={0}
      model={model}
      people={people}
      chosen={asksPeople ? ai : model}
      onKeys={onKeys}
      onText={setText}
      onModel={
        asksPeople
          ? (name) => setCompose(uuid, { ai: name })
          : // Once there are messages a model that is named answers beside the session's own.
            (target.onModel ?? ((name) => choose({ beside: name === model ? '' : name })))
      }
    />
  );
};

export default TypedHere;
