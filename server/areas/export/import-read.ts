import { readChatGptSession } from './import-chatgpt.ts';
import { readOwnSession } from './import-own.ts';
import {
  bounds,
  Budget,
  field,
  type ImportedSession,
  isFields,
  sessionName,
  Skipped,
} from './import-shape.ts';

export interface ReadImport {
  sessions: ImportedSession[];
  skipped: string[];
}

/** The sessions in a file, whichever of the known kinds it is. */
const listIn = (data: unknown): unknown[] | null => {
  if (Array.isArray(data))
    return data.flatMap((each: unknown) => {
      const inner = isFields(each) && field(each, 'queqiao') === 1 ? field(each, 'sessions') : null;
      return Array.isArray(inner) ? (inner as unknown[]) : [each];
    });
  if (!isFields(data)) return null;
  if (field(data, 'queqiao') === 1) {
    const sessions = field(data, 'sessions');
    return Array.isArray(sessions) ? sessions : null;
  }
  if (isFields(field(data, 'mapping'))) return [data];
  const conversations = field(data, 'conversations');
  return Array.isArray(conversations) ? conversations : null;
};

/** What can be read of somebody's file, and what cannot; null where it is nothing that is known. */
export const readImport = (data: unknown, now: number): ReadImport | null => {
  const list = listIn(data);
  if (!list) return null;
  const skipped = new Skipped();
  const budget = new Budget();
  const sessions: ImportedSession[] = [];
  let known = 0;
  for (const [at, value] of list.entries()) {
    if (sessions.length >= bounds.sessions || budget.messages >= bounds.messages) {
      skipped.add(`从第 ${at + 1} 个会话起，超出了一次能导入的数量`);
      break;
    }
    budget.beginSession();
    const context = { budget, skipped, now };
    if (!isFields(value)) {
      skipped.add(`${sessionName(at, '')}：没有读懂`);
      continue;
    }
    if (Object.hasOwn(value, 'messages')) {
      known += 1;
      const session = readOwnSession(value, at, context);
      if (session) sessions.push(session);
    } else if (Object.hasOwn(value, 'mapping')) {
      known += 1;
      const session = readChatGptSession(value, at, context);
      if (session) sessions.push(session);
    } else skipped.add(`${sessionName(at, '')}：没有读懂`);
  }
  return known === 0 && list.length > 0 ? null : { sessions, skipped: skipped.list };
};
