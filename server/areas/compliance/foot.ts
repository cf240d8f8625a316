import type { Answer } from '#contract/calls.ts';
import type { FootInfo } from '#contract/compliance.ts';
import { madeByAi } from '#contract/made-by-ai.ts';
import type { Executor } from '#server/db/database.ts';
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

/** The part of the rules that every page knows. */
export const siteRules = async (
  db: Executor,
): Promise<Pick<Answer<'siteInfo'>, 'foot' | 'mark_text' | 'mark_images'>> => {
  const rules = await readCompliance(db);
  const { operator, report, icp, police, algorithm, model_record } = rules;
  return {
    foot: { operator, report, icp, police, algorithm, model_record },
    mark_text: rules.mark_text === 1,
    mark_images: rules.mark_images === 1,
  };
};
