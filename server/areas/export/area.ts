import type { Area, Kit } from '#server/area.ts';
import { createExportHandlers } from './export.handlers.ts';
import { exportDeps } from './export-deps.ts';
import { downloadsOf } from './export.store.ts';
import { createExportService } from './export.service.ts';
import { createImportService } from './import.service.ts';

export const exportArea = (kit: Kit) => {
  const { models, settings } = kit;
  const exports = createExportService(exportDeps(kit));
  return {
    holds: [{ table: 'downloads', of: ['user_id'], end: 'delete' }],
    leave: async (tx, userId) => {
      const keys = await downloadsOf(tx, userId);
      return async () => {
        for (const key of keys) await kit.storage.delete(key);
      };
    },
    chores: [(tx) => exports.removeExpired(tx)],
    serve: () =>
      createExportHandlers({
        exports,
        imports: createImportService(models),
        publicUrl: settings.publicUrl,
        requireDisk: kit.disk.require,
        room: settings.fileQuota / 2,
      }),
  } satisfies Area;
};
