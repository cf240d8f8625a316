import { readJson } from '#src/platform/read-json.ts';
import { readDraft, useDraft, writeDraft } from '#src/platform/draft.ts';

/** What goes with the next message beside its words. */
export interface Compose {
  /** In a session of people: name of the model that shall answer; empty: none. */
  ai: string;
  /** The person spoken to. */
  atUser: { id: number; name: string } | null;
}

const nothing: Compose = { ai: '', atUser: null };
const keyOf = (uuid: string) => `compose:${uuid}`;

const parse = (text: string): Compose => ({ ...nothing, ...readJson<Partial<Compose>>(text, {}) });

/** The choices for the next message of a session, kept with its draft. */
export const readCompose = (uuid: string): Compose => parse(readDraft(keyOf(uuid)));

export const useCompose = (uuid: string): Compose => parse(useDraft(keyOf(uuid))[0]);

/** Changes what is given and keeps the rest: `setCompose(uuid, { atUser })` is the act 回复. */
export const setCompose = (uuid: string, change: Partial<Compose>): void =>
  writeDraft(keyOf(uuid), JSON.stringify({ ...readCompose(uuid), ...change }));

export const clearCompose = (uuid: string): void => writeDraft(keyOf(uuid), '');
