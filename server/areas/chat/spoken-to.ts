import { limits } from '#contract/limits.ts';
import { maskName } from '#contract/mask-name.ts';
import { mentionedIn } from '#common/mentions.ts';
import { countWithin } from '#server/db/count-within.ts';
import type { Executor, Transaction } from '#server/db/database.ts';
import { Refusal, type Identity } from '#server/http/handlers.ts';
import { tooMany } from '#server/http/rate-limit.ts';
import { areFriends } from '../session/friend.service.ts';
import type { SessionRow } from '../session/session.service.ts';
import type { Request } from './chat.store.ts';
import { namedPeople, namesOf, wroteIn } from './people.store.ts';
import type { Question } from './question.ts';

/** Whom messages speak to by number; their names are read with the message and stand in none. */

const day = 86_400_000;

const personIn = (request: Request | null): number | null => {
  // What asks for a film speaks to nobody.
  const { at_user: person = null } = (request ?? {}) as Partial<Request>;
  return person?.id ?? null;
};

export type Names = ReadonlyMap<number, string>;

/** The names of those whom these messages speak to, as their reader knows them; null: a stranger. */
export const namesAmong = async (
  db: Executor,
  rows: readonly { request: Request | null }[],
  viewer: number | null,
): Promise<Names> => {
  const ids = new Set(rows.map(({ request }) => personIn(request)).filter((id) => id !== null));
  return ids.size === 0 ? new Map() : namesOf(db, [...ids], viewer ?? 0);
};

/** The person who is spoken to is named as in every other place. */
export const withName = (request: Request | null, names: Names): Request | null => {
  const id = personIn(request);
  return request && id !== null
    ? { ...request, at_user: { id, name: maskName(names.get(id) ?? '已注销用户') } }
    : request;
};

/** Whoever was not met here, nor befriended, is somebody whom one only has the number of. */
const isMet = async (
  tx: Transaction,
  session: SessionRow,
  id: number,
  user: Identity,
): Promise<boolean> =>
  [user.id, session.userId, session.lowUserId, session.highUserId].includes(id) ||
  (await wroteIn(tx, session.id, id)) ||
  areFriends(tx, user.id, id);

/** Counts strangers who are spoken to, each once a day. @throws Refusal too_many */
const countStranger = async (tx: Transaction, id: number, user: Identity): Promise<void> => {
  const before = await countWithin(tx, `mentions of ${id} by ${user.id}`, day);
  if (before.points > 1) return;
  const { points, left } = await countWithin(tx, `strangers mentioned by ${user.id}`, day);
  if (points > limits.strangersMentioned)
    throw tooMany(
      left,
      `一天最多提到 ${limits.strangersMentioned} 位没有说过话的人，今天已经满了，请去掉这个人再发，或明天再来`,
    );
};

/** A question with the person that it chose, and the model; `names` has the person's. @throws Refusal */
export const withPerson = async (
  tx: Transaction,
  session: SessionRow,
  { human, request }: Question,
  { user, model }: { user: Identity; model: string },
): Promise<{ question: Question; names: Names }> => {
  if (request === null) return { question: { human, request }, names: new Map() };
  const id = personIn(request);
  const names = await namesAmong(tx, [{ request }], user.id);
  if (id !== null && !names.has(id)) throw new Refusal('bad_input', 'msg.at_user：没有这个人');
  if (id !== null && !(await isMet(tx, session, id, user))) await countStranger(tx, id, user);
  const at_user = id === null ? null : { id, name: '' };
  return { question: { human, request: { ...request, at_user, at_ai: model } }, names };
};

/** Whom a message is for: the person who was chosen, and those whose names it says behind an @. */
export const spokenTo = async (
  tx: Transaction,
  session: SessionRow,
  { human, request }: Question,
  user: Identity,
): Promise<number[]> => {
  const chosen = request?.at_user ? [request.at_user.id] : [];
  if (!/[@＠]/.test(human)) return chosen;
  const people = await namedPeople(tx, session.id, human);
  const names = mentionedIn(
    human,
    people.map(({ name }) => name),
  );
  const typed = people.filter(({ id, name }) => id !== user.id && names.includes(name));
  return [...new Set([...chosen, ...typed.map(({ id }) => id)])];
};
