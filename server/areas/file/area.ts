import type { Area, Kit } from '../../area.ts';
import { createFileHandlers } from './file.handlers.ts';
import { registerFiles } from './file.route.ts';

export const fileArea = ({ files }: Kit) =>
  ({
    takeOver: files.move,
    serve: () => createFileHandlers(files),
    routes: (http, { db }) => registerFiles(http, files, db),
  }) satisfies Area;
