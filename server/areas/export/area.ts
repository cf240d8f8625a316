import type { Area, Kit } from '../../area.ts';
import { createExportHandlers } from './export.handlers.ts';
import { createExportService } from './export.service.ts';
import { createImportService } from './import.service.ts';

export const exportArea = ({ storage, files, models, settings }: Kit) => {
  const exports = createExportService({
    storage,
    picture: (address, signal) => files.jpegForDocument(address, signal),
  });
  return {
    chores: [(tx) => exports.removeExpired(tx)],
    serve: () =>
      createExportHandlers({
        exports,
        imports: createImportService(models),
        publicUrl: settings.publicUrl,
      }),
  } satisfies Area;
};
