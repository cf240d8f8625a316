import { createAuthHandlers } from './auth/auth.handlers.ts';
import { createAuthService } from './auth/auth.service.ts';
import { connectDatabase } from './db/connect.ts';
import type { Handlers } from './http/handlers.ts';
import { removeExpiredAnswers } from './http/idempotency.store.ts';
import { createLog } from './http/log.ts';
import { createHttpServer } from './http/server.ts';
import { createSystemHandlers } from './http/system.handlers.ts';
import { createLedgerHandlers } from './ledger/ledger.handlers.ts';
import { balances, openWallet, releaseExpired } from './ledger/ledger.service.ts';
import { createSessionHandlers } from './session/session.handlers.ts';
import { countThisMonth, moveSessions } from './session/session.service.ts';
import { startHousekeeping } from './housekeeping.ts';
import type { Settings } from './settings.ts';

export interface App {
  /** Gives the address, such as http://127.0.0.1:3000. */
  listen: () => Promise<string>;
  /** Lets what runs come to its end, then leaves the database. */
  close: () => Promise<void>;
}

/**
 * Builds the whole server from its settings; it does not listen yet. `say` tells whoever starts it
 * what must not get lost, such as the password made up for the first administrator.
 */
export const createApp = async (settings: Settings, say: (text: string) => void): Promise<App> => {
  const log = createLog(settings.logLevel);
  const { db, close: closeDatabase } = await connectDatabase(settings, log);
  const auth = await createAuthService({
    db,
    settings,
    balances,
    openWallet,
    moveSessions,
    countThisMonth,
  });
  const madeUp = await auth.ensureManager();
  if (madeUp !== null) say(`管理员账号 admin，密码 ${madeUp}（只显示这一次，请记下）`);

  let closing = false;
  const server = await createHttpServer({
    settings,
    log,
    db,
    auth,
    handlers: {
      ...createAuthHandlers(auth),
      ...createLedgerHandlers(),
      ...createSessionHandlers({
        models: undefined as never,
        createGuest: auth.createGuest,
        stopSession: async () => {},
      }),
      ...createSystemHandlers(settings.version),
    } as Handlers,
    isClosing: () => closing,
  });
  const housekeeping = startHousekeeping(db, log, [
    auth.removeExpired,
    removeExpiredAnswers,
    releaseExpired,
  ]);

  return {
    listen: () => server.listen({ port: settings.port, host: settings.host }),
    close: async () => {
      closing = true;
      await housekeeping.close();
      await server.close();
      await closeDatabase();
    },
  };
};
