type Sender = 'conversation' | 'outbox';

/** By whom the first question of a session is sent, by its uuid. */
const senders = new Map<string, Sender>();

/**
 * The conversation sends the question that its session was made for; where that does not open, the
 * outbox does. Whoever takes it first has it: false where the other one did.
 */
export const takeFirstSend = (session: string, by: Sender): boolean => {
  if (!senders.has(session)) senders.set(session, by);
  return senders.get(session) === by;
};

/** What was taken could not be kept: either may take it again. */
export const giveFirstSendBack = (session: string): void => void senders.delete(session);
