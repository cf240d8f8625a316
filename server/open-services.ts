import type { FastifyBaseLogger } from 'fastify';
import type { Area } from './area.ts';
import { isInvite } from './areas/account/invite.service.ts';
import type { AuthDeps } from './areas/auth/auth-deps.ts';
import { createAuthService } from './areas/auth/auth.service.ts';
import { createReplies } from './areas/chat/replies.ts';
import { createReplyFigures } from './areas/chat/reply-figures.ts';
import { deleteKeysOf } from './areas/developer/key.service.ts';
import { createMakeFile } from './areas/export/make-file-tool.ts';
import { createRunCode } from './areas/export/run-code-tool.ts';
import { createTranslateFile } from './areas/export/translate-tool.ts';
import { unreadOf as unreadNews } from './areas/forum/news.service.ts';
import { createDraw } from './areas/image/draw-tool.ts';
import { createEditImage } from './areas/image/edit-tool.ts';
import { lockPurse, openWallet, purse } from './areas/ledger/ledger.service.ts';
import type { KeyBox } from './areas/model/channel-key.ts';
import { refuseBlocked } from './areas/moderation/blocked-words.service.ts';
import { createPaymentService } from './areas/payment/payment.service.ts';
import { createSandbox } from './areas/payment/sandbox.ts';
import { countThisMonth, lockSessions } from './areas/session/session.service.ts';
import { requireGuests, takesPayment, whyNoAccount } from './areas/setup/setup.service.ts';
import { createSpeak } from './areas/speech/speak-tool.ts';
import { createToolServers } from './areas/tool/tool-servers.ts';
import { createToolbox } from './areas/tool/toolbox.ts';
import { createMakeFilm } from './areas/video/film-tool.ts';
import type { Database } from './db/database.ts';
import { waiterOf } from './db/person.ts';
import type { Figures } from './http/figures.ts';
import { moveJobs } from './jobs/job.service.ts';
import type { createKit } from './kit.ts';
import { createProviders } from './payments/providers.ts';
import type { Settings } from './settings.ts';

/** Accounts and logins, with what other areas do when somebody comes or two become one. */
export const openAuth = ({
  figures,
  brought,
  ...deps
}: Pick<AuthDeps, 'db' | 'settings' | 'log' | 'keys' | 'secondFactor'> & {
  figures: Figures;
  brought: readonly Area[];
}) =>
  createAuthService({
    ...deps,
    deleteKeysOf,
    signInFailed: figures.counter(
      'queqiao_sign_in_failures_total',
      'Passwords and codes that were not right, by what was wrong',
      'reason',
    ),
    balances: purse,
    openWallet,
    lockEntered: async (tx, guestId, userId) => {
      if (guestId !== null) await lockSessions(tx, guestId);
      await lockPurse(tx, userId);
    },
    takeOver: async (tx, fromUserId, toUserId) => {
      await moveJobs(tx, fromUserId, toUserId);
      for (const area of brought) await area.takeOver?.(tx, fromUserId, toUserId);
    },
    countThisMonth,
    unreadNews,
    refuseBlocked,
    requireGuests,
    whyNoAccount: (on, invite) =>
      whyNoAccount(on, async () => invite !== undefined && (await isInvite(on, invite))),
    registered: async (tx, userId, invite) => {
      for (const area of brought) await area.registered?.(tx, userId, invite);
    },
  });

/** What writes answers: the models, their tools, what is counted of them. */
export const openReplies = ({
  settings,
  log,
  kit,
  jobs,
  keys,
  figures,
}: Pick<Awaited<ReturnType<typeof createKit>>, 'kit' | 'jobs'> & {
  settings: Settings;
  log: FastifyBaseLogger;
  keys: KeyBox;
  figures: Figures;
}) => {
  const { db, instance, valkey, models, files } = kit;
  return createReplies({
    db,
    instance,
    valkey,
    models,
    fetchImage: async (url, detail, { signal, userId }) =>
      files.imageForModel(url, detail, { signal, owner: await waiterOf(db, userId) }),
    toolbox: createToolbox({
      ...kit,
      servers: createToolServers({
        keys,
        dataDir: settings.dataDir,
        allowed: settings.fetchAllowed,
        publicUrl: settings.publicUrl,
      }),
      made: [
        createDraw({ ...kit, jobs }),
        createEditImage({ ...kit, jobs }),
        createMakeFilm({ ...kit, jobs }),
        createSpeak(kit),
        createMakeFile(kit),
        createRunCode(kit),
        createTranslateFile({ ...kit, jobs }),
      ],
    }),
    writer: {
      find: (name, user) => models.find(db, name, user),
      ask: (...asked) => kit.prompts.ask(...asked),
    },
    box: keys,
    log,
    figures: createReplyFigures(figures),
    options: {
      firstByteMs: settings.modelFirstWordSeconds * 1000,
      idleMs: settings.modelIdleSeconds * 1000,
    },
  });
};

/** Orders and the services that they are paid through. */
export const openPayments = async ({
  settings,
  log,
  db,
  brought,
}: {
  settings: Settings;
  log: FastifyBaseLogger;
  db: Database;
  brought: readonly Area[];
}) => {
  const payments = createPaymentService({
    db,
    log,
    ...(await createProviders(settings, () => createSandbox(db, settings.publicUrl))),
    payables: brought.flatMap((area) => area.payables ?? []),
    takesPayment: () => takesPayment(db),
    checkMs: settings.paymentCheckSeconds * 1000,
  });
  if (payments.provider('sandbox'))
    log.warn(
      { allowed: settings.sandboxAllowed || null },
      'orders are paid with play money: set PAYMENT to wechat, alipay or off where people buy',
    );
  return payments;
};
