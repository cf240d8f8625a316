import type { CallName } from '#contract/calls.ts';
import { sessionTypes } from '#contract/kinds.ts';
import type { Executor } from '#server/db/database.ts';
import { isAmongPeople } from './records.store.ts';

/** Calls that always reach others. */
const amongPeople: ReadonlySet<string> = new Set<CallName>([
  'newFriend',
  'answerFriend',
  'updateMessage',
  'acceptAnswer',
  'shareSession',
  'sendAppComment',
  'saveScenario',
]);

/** The session that a message is sent to, by its uuid or number; null: the call sends none. */
export const messageSession = (call: string, input: Record<string, unknown>): string | null =>
  call === 'sendMessage' ? ((input['session_id'] ?? input['uuid'] ?? '') as string) : null;

/** Whether a call other than a message puts something where other people see it, by what it was given. */
export const publishes = (call: string, input: Record<string, unknown>): boolean => {
  if (amongPeople.has(call)) return true;
  if (call === 'setSession') return input['private'] === 0;
  if (call === 'newTrainModel' || call === 'setTrainModel') return input['private'] === 0;
  // A group of the forum alone means a question, too.
  if (call !== 'newSession') return false;
  return (input['type'] ?? (input['group_id'] ? sessionTypes.people : 0)) === sessionTypes.people;
};

/** Whether a call puts something where other people see it. */
export const reachesPeople = async (
  db: Executor,
  call: string,
  input: Record<string, unknown>,
): Promise<boolean> => {
  const session = messageSession(call, input);
  return session === null ? publishes(call, input) : isAmongPeople(db, session);
};
