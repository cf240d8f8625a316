import type { Parsed } from '#contract/calls.ts';
import type { Executor } from '#server/db/database.ts';
import type { DiskRoom } from '#server/storage/disk-room.ts';
import type { KnowledgeService } from '../embedding/embedding.service.ts';
import type { ModelService } from '../model/model.service.ts';

/** What the forum knows of sessions among people. */
export interface ForumShelf {
  /**
   * A page of its questions, or of what is found among them by words.
   * @param me whose questions, answers and visits are meant; 0: a visitor's
   */
  list: (
    db: Executor,
    words: readonly string[],
    filter: Pick<Parsed<'sessionList'>, 'category' | 'model'> & {
      groupId: number | undefined;
      userId: number | undefined;
    },
    me: number,
    part: { offset: number; limit: number },
  ) => Promise<{ ids: number[]; total: number; found: ReadonlyMap<number, number> | null }>;
  /** What the cards of questions show of them. */
  looks: (
    db: Executor,
    ids: readonly number[],
  ) => Promise<ReadonlyMap<number, { content: string; images: string[]; lastSuspended: boolean }>>;
  /** How many people have looked at a question. */
  views: (db: Executor, id: number) => Promise<number>;
  /** @throws Refusal bad_input where there is no such group */
  requireGroup: (db: Executor, id: number) => Promise<void>;
}

export interface SessionServiceDeps {
  /** @throws Refusal storage_full */
  requireDisk: DiskRoom['require'];
  models: ModelService;
  knowledge: Pick<KnowledgeService, 'find' | 'findAll'>;
  forum: ForumShelf;
  /** Those of the keys that are styles of images. @throws Refusal training_unfinished */
  requireTrained: (db: Executor, keys: readonly string[], userId: number) => Promise<string[]>;
}
