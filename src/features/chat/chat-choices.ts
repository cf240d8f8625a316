import { readJson } from '#src/platform/read-json.ts';
import { readDraft, useDraft, writeDraft } from '#src/platform/draft.ts';

/** What a person chose for one session, kept in this browser. */
export interface Choices {
  /** Name of a second model that answers beside the session's; empty: none. */
  beside: string;
  /** Of a scenario's session: the question goes into the scenario's text. */
  withTemplate: boolean;
  /** Of a session with a knowledge base: answers come from it alone. */
  strict: boolean;
}

const usual: Choices = { beside: '', withTemplate: true, strict: false };
const keyOf = (uuid: string) => `choices:${uuid}`;

const parse = (text: string): Choices => ({ ...usual, ...readJson<Partial<Choices>>(text, {}) });

export const readChoices = (uuid: string): Choices => parse(readDraft(keyOf(uuid)));

export const useChoices = (uuid: string): [Choices, (change: Partial<Choices>) => void] => {
  const [text] = useDraft(keyOf(uuid));
  const change = (next: Partial<Choices>) =>
    writeDraft(keyOf(uuid), JSON.stringify({ ...readChoices(uuid), ...next }));
  return [parse(text), change];
};
