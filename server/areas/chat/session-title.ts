import { titleOf } from '#common/markdown/digest.ts';
import { sessionTypes } from '#contract/kinds.ts';
import type { Transaction } from '#server/db/database.ts';
import { anySession, forkMark } from '../session/session.service.ts';
import { endOfBranch, updateCard, type FoundMessage } from './chat.store.ts';

/** The title of a session whose message has no words. */
export const untitled = '[图片或文件]';

type Words = Pick<FoundMessage, 'title' | 'human' | 'type'>;

/** Whether a title was made of a message's words. */
const isMadeOf = (title: string, { title: above, human, type }: Words): boolean => {
  if (title === '') return false;
  if (title === titleOf(above || human) || title === titleOf(human)) return true;
  // Before the words of an image an address and parameters may stand.
  return type === sessionTypes.image && titleOf(human).includes(title.replace(/…$/, ''));
};

/**
 * Once a message is gone or says something else: a title made of its words is made anew of those
 * that the session now begins with, for it stands in links and in others' lists, too.
 * @param before the message as it was
 */
export const forgetTitleOf = async (tx: Transaction, before: FoundMessage): Promise<void> => {
  const session = await anySession(tx, String(before.sessionId));
  if (!session) return;
  const mark = session.prompt.endsWith(forkMark) ? forkMark : '';
  const title = mark === '' ? session.prompt : session.prompt.slice(0, -mark.length);
  if (!isMadeOf(title, before)) return;
  const first = await endOfBranch(tx, session.id, 'first');
  // Without a message a session has no title; a talk of two is listed by it.
  if (!first && session.lowUserId === null) return updateCard(tx, session.id, { prompt: '' });
  const words = first ? titleOf(first.title || first.human) : '';
  return updateCard(tx, session.id, { prompt: `${words || untitled}${mark}` });
};
