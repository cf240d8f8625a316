import type { Handlers } from '#server/http/handlers.ts';
import type { FileService } from '../file/file.service.ts';
import { manageDelete, manageList, manageSet } from './manage-session.service.ts';
import { inSearchTurn } from './search-turns.ts';

export const createManageSessionHandlers = (deps: {
  files: Pick<FileService, 'anyFile'>;
  stopSession: (sessionId: number) => Promise<void>;
}): Pick<
  Handlers,
  'adminSessionList' | 'adminDeleteSession' | 'adminSetSession' | 'adminUpload'
> => ({
  adminSessionList: (input, { db, user }) =>
    inSearchTurn(input.query, user, () => manageList(db, input, user)),

  adminDeleteSession: async ({ session_id: ref }, { db, user, noteAct, afterCommit }) => {
    const row = await manageDelete(db, ref, user);
    noteAct({ subject: `session:${row.id}`, from: { user_id: row.userId, prompt: row.prompt } });
    afterCommit(() => deps.stopSession(row.id));
    return {};
  },

  adminSetSession: async (input, { db, user, noteAct }) => {
    const row = await manageSet(db, input.session_id, input.private === 1, user);
    noteAct({
      subject: `session:${row.id}`,
      from: { private: row.private ? 1 : 0 },
      to: { private: input.private },
    });
    return {};
  },

  adminUpload: async (_input, { file, user, noteAct }) => {
    const keep = await deps.files.anyFile(file, user);
    return async (db) => {
      const { url } = await keep(db);
      noteAct({ subject: 'upload', to: { url } });
      return { url };
    };
  },
});
