import { sessionTypes } from '#contract/kinds.ts';
import { fileStates, trainLimits } from '#contract/train-limits.ts';
import type { Transaction } from '#server/db/database.ts';
import { release, settle } from '../ledger/ledger.service.ts';
import { noteChange, type ProjectRow } from './project.store.ts';
import * as store from './training-file.store.ts';

/**
 * Ends the hold of a file whose learning its person ends: what a service was sent of it, which its
 * row says, is paid. Gives the tokens.
 * @param model the service's, for the person's bill
 */
export const payStopped = async (
  tx: Transaction,
  {
    holdId,
    token,
    name,
    channelId,
  }: Pick<store.FileRow, 'holdId' | 'token' | 'name' | 'channelId'>,
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
    channelId,
  });
  return spent;
};

/** What a file that failed had held comes back, and its log says why. */
const noteFailed = async (
  tx: Transaction,
  { id, holdId }: Pick<store.FileRow, 'id' | 'holdId'>,
  why: string,
): Promise<void> => {
  if (holdId) {
    await release(tx, holdId);
    await store.changeFile(tx, id, { token: 0 });
  }
  await store.addLog(tx, id, `没有成功：${why}`);
};

/**
 * Fails one file.
 * @param hopeless it fails for what it is, whenever it is tried
 */
export const failFile = async (
  tx: Transaction,
  id: number,
  { why, hopeless }: { why: string; hopeless: boolean },
): Promise<void> => {
  const row = await store.findFile(tx, id);
  await store.endFile(tx, id, { status: fileStates.failed, error: why, hopeless });
  if (row) await noteFailed(tx, row, why);
};

/** Fails all files of a project that are begun and have not ended. */
export const failFiles = async (tx: Transaction, projectId: number, why: string): Promise<void> => {
  for (const file of await store.failOpenFiles(tx, projectId, why)) await noteFailed(tx, file, why);
};

/** The same where their person stopped them: what was sent is paid. Gives the tokens. */
export const stopFiles = async (tx: Transaction, project: ProjectRow): Promise<number> => {
  let tokens = 0;
  for (const file of await store.failOpenFiles(tx, project.id, '已取消')) {
    const spent = await payStopped(tx, file, project.engine);
    tokens += spent;
    const paid = spent > 0 ? `，已发给模型服务的部分花费 ${spent} tokens` : '';
    await store.addLog(tx, file.id, `已取消${paid}`);
  }
  if (tokens > 0) await noteChange(tx, project.id, { tokens });
  return tokens;
};
