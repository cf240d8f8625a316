import { timesFactor } from '#contract/price.ts';
import { fileStates, projectTypes } from '#contract/train-limits.ts';
import type { Executor } from '#server/db/database.ts';
import type { Identity } from '#server/http/handlers.ts';
import {
  contentOf,
  directionFor,
  embeddingPrice,
  translationPrice,
  type FileContent,
} from './estimate.ts';
import { groupOf } from '../ledger/group-of.ts';
import { stored } from './file-task.ts';
import { ownProject } from './project-access.ts';
import type { FileKind } from './reading/kinds.ts';
import { openReader, UnreadableFile, type FileReader } from './reading/read-file.ts';
import type { TrainDeps } from './train-deps.ts';
import * as store from './training-file.store.ts';
import { directionOf } from './translation/ask-translation.ts';

/** What a waiting file holds, read once; null: an archive, or nothing can be learned from it. */
const contentOfFile = async (
  { storage }: TrainDeps,
  db: Executor,
  file: store.FileRow,
  { reader, learned }: { reader: FileReader; learned: boolean },
): Promise<FileContent | null> => {
  if (file.content !== null || file.kind === 'archive') return file.content;
  const data = await stored(storage, file.storageKey);
  if (!data) return null;
  try {
    const { segments } = await reader.read<'segments'>({
      want: 'segments',
      kind: file.kind as FileKind,
      data: new Uint8Array(data),
      learned,
    });
    const content = contentOf(segments);
    await store.changeFile(db, file.id, { content });
    return content;
  } catch (error) {
    if (!(error instanceof UnreadableFile)) throw error;
    const failed = { status: fileStates.failed, error: error.message, hopeless: true };
    await store.changeFile(db, file.id, { ...failed, waiting: false });
    await store.addLog(db, file.id, `没有成功：${error.message}`);
    return null;
  }
};

/**
 * What it will take to begin what waits, tokens, and another direction where the files' language is
 * not the one that is set; 0: it is.
 * @throws Refusal not_found
 */
export const quote = async (deps: TrainDeps, db: Executor, id: number, user: Identity) => {
  const { settings, type } = await ownProject(db, id, user);
  const files = await store.waitingFiles(db, id);
  const contents: FileContent[] = [];
  const learned = type === projectTypes.knowledge;
  const reader = openReader({ seconds: deps.settings.documentSeconds, owner: user });
  try {
    for (const file of files) {
      const content = await contentOfFile(deps, db, file, { reader, learned });
      if (content) contents.push(content);
    }
  } finally {
    reader.close();
  }
  const archives = files.filter(({ kind }) => kind === 'archive').length;
  const told = { files: contents.length + archives, archives };
  const factor = (await groupOf(db, user.id))?.factor ?? 1;
  if (learned) {
    const engine = await deps.embeddings.engine(settings.model ?? '');
    return {
      ...told,
      tokens: engine && !engine.free ? timesFactor(embeddingPrice(contents), factor) : 0,
      direction: 0,
    };
  }
  const set = directionOf(settings);
  const asked = directionFor(contents);
  const asker = { id: user.id, guest: false };
  const writer = await deps.prompts.writer(asker, settings.chat_model || undefined);
  return {
    ...told,
    tokens: writer ? timesFactor(translationPrice(writer, contents, set), factor) : 0,
    direction: asked === null || asked === set ? 0 : asked,
  };
};
