import { createContext, useContext, useSyncExternalStore } from 'react';
import type { In } from '#contract/calls.ts';
import type { Message } from '#contract/chat.ts';
import type { Source } from '#contract/embedding.ts';
import type { Making, SessionType } from './session-type.ts';

/** This once, always in this session, or not. */
export type ToolAnswer = 'once' | 'session' | 'no';
export type QuestionAnswers = NonNullable<In<'answerTool'>['answers']>;

/** What a row can be turned into: its source, a box to write in, or all of what was folded. */
export type RowMode = 'raw' | 'edit' | 'unfolded';

/** What every row of a conversation may ask for. Stays the same object while the session is open. */
export interface ChatActs extends Making {
  uuid: string;
  owner: boolean;
  /** The reader may write here. */
  writable: boolean;
  /** The session's model. */
  model: string;
  people: boolean;
  temporary: boolean;
  /** The reader may take the session over as one of their own. */
  forkable: boolean;
  /** There is a mouse: acts show themselves when it comes. A finger opens the sheet instead. */
  pointer: boolean;
  /** Number of the reader's account; 0: none. */
  me: number;
  /** Opens the sheet with all that can be done with a message. */
  openMenu: (message: Message, part: 'question' | 'reply') => void;
  /** Opens a passage that a reply rests on; `said`: the words that rest on it. */
  openSource: (message: Message, source: Source, said?: string) => void;
  /** Opens what there is to know about somebody who wrote. */
  openPerson: (person: { id: number; name: string }) => void;
  /** The next message speaks to this person. */
  answerTo: (person: { id: number; name: string }) => void;
  /** Of a session in which things are made: what shows and makes them. Null: it is another. */
  sessionType: SessionType | null;
  retry: (message: Message) => void;
  reconnect: (message: Message) => void;
  stop: (message: Message) => void;
  /** Answers what a call of a tool asks; it is the caller who says what failed. */
  answerTool: (
    message: Message,
    call: string,
    answer: ToolAnswer,
    answers?: QuestionAnswers,
  ) => Promise<unknown>;
  /** Answers once more, as a branch; without a model by the one that answered. */
  regenerate: (message: Message, model?: string) => void;
  /** Shows another branch, or goes on with the other of two answers. */
  choose: (id: number) => Promise<void>;
  /** Likes a message, or no longer. */
  like: (message: Message) => void;
  /** Takes a message into the favourites, or out. */
  favourite: (message: Message) => void;
  /** Sends a question again with other words, as a branch; false: it was not taken. */
  ask: (message: Message, text: string) => Promise<boolean>;
  /** Asks first, then deletes. */
  remove: (message: Message) => void;
  /** Makes a session of one's own that goes on from here. */
  fork: (id: number) => void;
  /** Makes a new session with this model (the server's default without one) and takes the question along. */
  startAnew: (question: string, model: 'same' | 'free') => void;
  is: (mode: RowMode, id: number) => boolean;
  toggle: (mode: RowMode, id: number) => void;
  onModes: (listener: () => void) => () => void;
}

export const ChatContext = createContext<ChatActs | null>(null);

export const useChatActs = (): ChatActs => {
  const acts = useContext(ChatContext);
  if (!acts) throw new Error('a row outside a conversation');
  return acts;
};

export const useRowMode = (mode: RowMode, id: number): boolean => {
  const acts = useChatActs();
  return useSyncExternalStore(acts.onModes, () => acts.is(mode, id));
};
