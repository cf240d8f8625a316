import type { Handlers } from './http/handlers.ts';
import { Refusal } from './http/handlers.ts';

const pending = (): never => {
  throw new Refusal('unavailable');
};

/** Calls of the workspace that are being built; each leaves this list with its handler. */
export const pendingHandlers = {
  // server/export
  exportSession: pending,
  exportFile: pending,
  importSessions: pending,
} satisfies Partial<Handlers>;
