import { createContext, useContext } from 'react';
import type { Message } from '@contract/chat.ts';
import type { Thread } from './thread.ts';

/** What every row of a conversation may ask for. Stays the same object while the session is open. */
export interface ChatActs {
  thread: Thread;
  owner: boolean;
  /** Opens the sheet with all that can be done with a message. */
  openMenu: (message: Message, part: 'question' | 'reply') => void;
  retry: (message: Message) => void;
  reconnect: (message: Message) => void;
  /** Makes a new session with this model (the server's default without one) and takes the question along. */
  startAnew: (question: string, model: 'same' | 'free') => void;
  isRaw: (id: number) => boolean;
  toggleRaw: (id: number) => void;
  onRawChange: (listener: () => void) => () => void;
}

export const ChatContext = createContext<ChatActs | null>(null);

export const useChatActs = (): ChatActs => {
  const acts = useContext(ChatContext);
  if (!acts) throw new Error('a row outside a conversation');
  return acts;
};
