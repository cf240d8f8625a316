import { sessionTypes } from '../../../contract/kinds.ts';
import { trainLimits } from '../../../contract/train-limits.ts';
import type { Transaction } from '../../db/database.ts';
import { release, settle } from '../ledger/ledger.service.ts';
import type { FileRow } from './train.store.ts';

/**
 * Ends the hold of a file whose learning its person ends: what a service was sent of it, which its
 * row says, is paid. Gives the tokens.
 * @param model the service's, for the person's bill
 */
export const payStopped = async (
  tx: Transaction,
  { holdId, token, name }: Pick<FileRow, 'holdId' | 'token' | 'name'>,
  model: string,
): Promise<number> => {
  if (!holdId) return 0;
  if (token === 0) {
    await release(tx, holdId);
    return 0;
  }
  const { spent } = await settle(tx, holdId, token, {
    type: sessionTypes.chat,
    model,
    human: `训练知识库：${name}`,
    prompt_tokens: Math.round(token / trainLimits.embeddingFactor),
    completion_tokens: 0,
  });
  return spent;
};
