import type { Area, Kit } from '../../area.ts';
import { createMemoCount } from './memo-count.ts';
import { createMemoHandlers } from './memo.handlers.ts';

export const memoArea = ({ db }: Kit) =>
  ({ jobKinds: [createMemoCount(db)], serve: () => createMemoHandlers() }) satisfies Area;
