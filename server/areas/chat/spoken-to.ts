import { maskName } from '#contract/mask-name.ts';
import { mentionedIn } from '#common/mentions.ts';
import type { Executor, Transaction } from '#server/db/database.ts';
import { Refusal, type Identity } from '#server/http/handlers.ts';
import type { SessionRow } from '../session/session.service.ts';
import type { Request } from './chat.store.ts';
import { namedPeople, namesOf } from './people.store.ts';
import type { Question } from './question.ts';

/** Whom messages speak to by number; their names are read with the message and stand in none. */

const personIn = (request: Request | null): number | null => {
  // What asks for a film speaks to nobody.
  const { at_user: person = null } = (request ?? {}) as Partial<Request>;
  return person?.id ?? null;
};

export type Names = ReadonlyMap<number, string>;

/** The names of those whom these messages speak to. */
export const namesAmong = async (
  db: Executor,
  rows: readonly { request: Request | null }[],
): Promise<Names> => {
  const ids = new Set(rows.map(({ request }) => personIn(request)).filter((id) => id !== null));
  return ids.size === 0 ? new Map() : namesOf(db, [...ids]);
};

/** The person who is spoken to is named as in every other place. */
export const withName = (request: Request | null, names: Names): Request | null => {
  const id = personIn(request);
  return request && id !== null
    ? { ...request, at_user: { id, name: maskName(names.get(id) ?? '已注销用户') } }
    : request;
};

/** A question with the person that it chose, and the model; `names` has the person's. @throws Refusal */
export const withPerson = async (
  tx: Transaction,
  { human, request }: Question,
  model: string,
): Promise<{ question: Question; names: Names }> => {
  if (request === null) return { question: { human, request }, names: new Map() };
  const id = personIn(request);
  const names = await namesAmong(tx, [{ request }]);
  if (id !== null && !names.has(id)) throw new Refusal('bad_input', 'msg.at_user：没有这个人');
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
