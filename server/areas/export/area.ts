import type { Area, Kit } from '../../area.ts';
import { createExportHandlers } from './export.handlers.ts';
import { exportDeps } from './export-deps.ts';
import { createExportService } from './export.service.ts';
import { createImportService } from './import.service.ts';

export const exportArea = (kit: Kit) => {
  const { models, settings } = kit;
  const exports = createExportService(exportDeps(kit));
  return {
    chores: [(tx) => exports.removeExpired(tx)],
    serve: () =>
      createExportHandlers({
        exports,
        imports: createImportService(models),
        publicUrl: settings.publicUrl,
        room: settings.fileQuota / 2,
      }),
  } satisfies Area;
};
