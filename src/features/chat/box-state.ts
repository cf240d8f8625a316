import { sessionTypes } from '#contract/kinds.ts';
import type { Model } from '#contract/model.ts';
import type { SessionDetail } from '#contract/session.ts';
import type { AttachTarget } from '#src/platform/attach/attach-store.ts';
import { useChatModels } from '#src/platform/queries.ts';
import type { Exchange } from '#src/widgets/conversation/price-ahead.ts';
import { useCompose } from './compose-store.ts';
import { typedModel } from './typed-model.ts';

/** What the parts of the send box that load later need to know of it. */
export interface BoxState {
  session: SessionDetail;
  text: string;
  /** The session has no message yet. */
  first: boolean;
  target: AttachTarget;
  /** What goes along with the next question, newest first; another object after every change. */
  context: { revision: string; recent: (exchanges: number) => readonly Exchange[] };
  setText: (text: string) => void;
  /** Puts the caret into the box. */
  focus: () => void;
  /** A reply is being written that can be stopped. */
  stoppable: boolean;
  /** Sends now what waited for its images. */
  send: () => void;
  /** Goes on with a model of factor 0. */
  goFree: () => void;
}

/** The model that will answer: in a session of people the mentioned one, if any. */
export const useAnswering = ({ session, target, text }: BoxState): Model | undefined => {
  const { ai } = useCompose(session.uuid);
  const models = useChatModels();
  if (session.type === sessionTypes.chat) return target.model;
  if (ai === '') return typedModel(text, models.data ?? [])?.model;
  return models.data?.find(({ name }) => name === ai);
};
