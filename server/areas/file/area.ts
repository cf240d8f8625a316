import type { Area, Kit } from '#server/area.ts';
import { createFileHandlers } from './file.handlers.ts';
import { registerFiles } from './file.route.ts';
import { dropOldUploads } from './pieces.store.ts';

export const fileArea = ({ files }: Kit) =>
  ({
    holds: [
      {
        table: 'files',
        of: ['user_id'],
        end: 'delete',
        take: ['name', 'kind', 'mime', 'size', 'text', 'created_at'],
      },
      // Their pieces go with them.
      { table: 'file_uploads', of: ['user_id'], end: 'delete' },
    ],
    chores: [dropOldUploads, (tx) => files.dropOldMarked(tx)],
    leave: (tx, userId) => files.leave(tx, userId),
    takeOver: files.move,
    serve: () => createFileHandlers(files),
    routes: (http, { db }) => registerFiles(http, files, db),
  }) satisfies Area;
