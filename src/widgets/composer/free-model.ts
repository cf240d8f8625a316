import { type ModelKind, useModelsOf } from '#src/platform/queries.ts';
import { useChatActs } from '#src/widgets/conversation/chat-context.ts';

/** Goes on with a model that takes nothing, in a session of its own once messages are here; null: there is none. */
export const useFreeModel = (
  kind: ModelKind,
  { first, text, choose }: { first: boolean; text: string; choose: (name: string) => void },
): (() => void) | null => {
  const { startAnew } = useChatActs();
  const free = useModelsOf(kind).data?.find(({ factor }) => factor === 0);
  if (!free) return null;
  return () => (first ? choose(free.name) : startAnew(text, 'free'));
};
