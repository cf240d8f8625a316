import type { Answer } from '#contract/calls.ts';
import type { FootInfo } from '#contract/compliance.ts';
import { madeByAi } from '#contract/made-by-ai.ts';
import type { Executor } from '#server/db/database.ts';
import { listAgreements } from './agreement.service.ts';
import { readCompliance } from './compliance.store.ts';

/** What stands in a file that leaves, beside its content. */
export interface Standing {
  /** Models had a part in it. */
  made: boolean;
  /** The words that say so; empty: the operator does not want them. */
  mark: string;
  /** Who runs this, and under which numbers; empty: nothing is set. */
  foot: string;
}

const footText = ({ operator, report, icp, police, algorithm, model_record }: FootInfo): string =>
  [
    operator,
    icp,
    police,
    algorithm && `算法备案 ${algorithm}`,
    model_record && `模型备案 ${model_record}`,
    report && `举报 ${report}`,
  ]
    .filter(Boolean)
    .join(' · ');

export const standing = async (db: Executor, made: boolean): Promise<Standing> => {
  const rules = await readCompliance(db);
  return { made, mark: made && rules.mark_text === 1 ? madeByAi : '', foot: footText(rules) };
};

export type SiteRules = Pick<
  Answer<'siteInfo'>,
  'foot' | 'agreements' | 'ask_agreements' | 'mark_text' | 'mark_images' | 'allow_unmarked'
>;

/** The part of the rules that every page knows. */
export const siteRules = async (db: Executor): Promise<SiteRules> => {
  const rules = await readCompliance(db);
  const { operator, report, icp, police, algorithm, model_record } = rules;
  const { list, required } = await listAgreements(db, null);
  return {
    foot: { operator, report, icp, police, algorithm, model_record },
    agreements: list.map(({ kind, version }) => ({ kind, version })),
    ask_agreements: required,
    mark_text: rules.mark_text === 1,
    mark_images: rules.mark_images === 1,
    allow_unmarked: rules.allow_unmarked === 1,
  };
};

/** Whether what programs get by /v1 carries the words. */
export const wantsMarks = async (db: Executor): Promise<boolean> =>
  (await readCompliance(db)).mark_api === 1;

/** Whether films that are made here show the words at their beginning. */
export const wantsFilmMarks = async (db: Executor): Promise<boolean> =>
  (await readCompliance(db)).mark_films === 1;

/** What is to be spoken, with the words before it where they are wanted there. */
export const spokenText = async (
  db: Executor,
  text: string,
  by: 'mark_sound' | 'mark_api',
): Promise<string> => ((await readCompliance(db))[by] === 1 ? `${madeByAi}。${text}` : text);
