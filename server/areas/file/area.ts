import type { Area, Kit } from '../../area.ts';
import { createFileHandlers } from './file.handlers.ts';
import { registerFiles } from './file.route.ts';

export const fileArea = ({ files }: Kit) =>
  ({
    holds: [
      {
        table: 'files',
        of: ['user_id'],
        end: 'delete',
        take: ['name', 'kind', 'mime', 'size', 'text', 'created_at'],
      },
    ],
    leave: (tx, userId) => files.leave(tx, userId),
    takeOver: files.move,
    serve: () => createFileHandlers(files),
    routes: (http, { db }) => registerFiles(http, files, db),
  }) satisfies Area;
