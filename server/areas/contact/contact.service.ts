import { createHmac, randomInt, randomUUID, timingSafeEqual } from 'node:crypto';
import type { FastifyBaseLogger } from 'fastify';
import type { ContactKind } from '#contract/sign-in.ts';
import type { Database, Executor } from '#server/db/database.ts';
import { Refusal } from '#server/http/handlers.ts';
import type { KeyBox } from '../model/channel-key.ts';
import { addressFault, normalAddress } from './address.ts';
import { createCodeLimits, type KnownPlace } from './code-limits.ts';
import * as store from './contact.store.ts';
import type { CodePurpose } from './contact.tables.ts';
import { NotSent, sendMail } from './mail.ts';
import { sendMessage } from './sms.ts';

/** How long a code is good for, minutes, and how often it may be wrong. */
const life = 10;
const mostTries = 5;

const purposes: Record<CodePurpose, string> = {
  sign_in: '登录',
  reset: '重置密码',
  bind: '绑定这个邮箱',
  old: '更换绑定',
};

export {
  contactOf,
  contactsOf,
  dropCodesOf,
  ownerOf,
  putContact,
  readSettings,
  removeContact,
  showMail,
  writeSettings,
} from './contact.store.ts';

export const sealedAs = { mail: 'smtp password', phone: 'sms secret' } as const;

export interface ContactDeps {
  db: Database;
  keys: KeyBox;
  /** From which codes and marks of addresses are made. */
  secret: string;
  log: FastifyBaseLogger;
}

export const isMailSet = (settings: store.KeptSettings): boolean =>
  settings.mail_enabled === 1 && settings.smtp_host !== '';
export const isPhoneSet = ({ sms_provider }: store.KeptSettings): boolean => sms_provider !== '';
export const isSet = (settings: store.KeptSettings, kind: ContactKind): boolean =>
  kind === 'mail' ? isMailSet(settings) : isPhoneSet(settings);

/** @throws Refusal bad_input */
export const requireAddress = (kind: ContactKind, given: string): string => {
  const value = normalAddress(kind, given);
  if (value === null) throw new Refusal('bad_input', `to：${addressFault(kind)}`);
  return value;
};

/** The secret of what sends; empty: there is none, or other keys sealed it. */
export const openedSecret = (
  keys: KeyBox,
  settings: store.KeptSettings,
  kind: ContactKind,
): string => {
  const kept = kind === 'mail' ? settings.smtpPassword : settings.smsSecret;
  return kept === null ? '' : (keys.open(kept, sealedAs[kind]) ?? '');
};

/** @throws NotSent */
const sendCode = async (
  keys: KeyBox,
  settings: store.KeptSettings,
  kind: ContactKind,
  to: string,
  { code, purpose }: { code: string; purpose: string },
): Promise<void> => {
  const password = openedSecret(keys, settings, kind);
  if (kind === 'phone') return sendMessage(settings, password, { phone: to, code });
  return sendMail(settings, password, {
    to,
    subject: `鹊桥验证码：${code}`,
    text: `您正在${purpose}，验证码是 ${code}，${life} 分钟内有效。\n\n不是您本人的操作，就不用理会这封邮件；不要把验证码告诉任何人。\n`,
  });
};

/** Mail addresses and phone numbers: what is sent to them, and the codes that prove them. */
export const createContacts = ({ db: database, keys, secret, log }: ContactDeps) => {
  const limits = createCodeLimits(database.$client);
  const sealed = (text: string): Buffer => createHmac('sha256', secret).update(text).digest();
  const markOf = (kind: ContactKind, value: string) => sealed(`contact ${kind} ${value}`);
  const codeHash = (id: string, code: string) => sealed(`contact code ${id} ${code}`);

  /** Sends in the background: how long it takes would tell whether there is anybody. */
  const sendLater = (
    kind: ContactKind,
    act: (settings: store.KeptSettings) => Promise<void>,
    { strange = false, failed }: { strange?: boolean; failed?: () => Promise<void> } = {},
  ) => {
    void (async () => {
      const settings = await store.readSettings(database);
      if (!isSet(settings, kind)) return;
      const top = kind === 'mail' ? settings.mail_daily : settings.sms_daily;
      if (!(await limits.maySend(kind, top, strange))) {
        log.error(
          { event: 'codes_of_day_used_up', kind, top, strange },
          'no more messages are sent today',
        );
        await failed?.();
        return;
      }
      await act(settings);
    })().catch(async (error: unknown) => {
      await failed?.().catch(() => undefined);
      const why = error instanceof NotSent ? error.message : String(error);
      log.error({ event: 'message_not_sent', kind, why }, 'a message could not be sent');
    });
  };

  const write = (to: string, subject: string, text: string): void =>
    sendLater('mail', (settings) =>
      sendMail(settings, openedSecret(keys, settings, 'mail'), { to, subject, text }),
    );

  return {
    settings: () => store.readSettings(database),
    sentToday: limits.sentToday,

    /**
     * Makes a code for an address and sends it, or for nobody and sends none; the answer is the same.
     * Gives its number. @throws Refusal too_many
     * @param userId whom it is to stand for; null: there is nobody
     */
    ask: async ({
      kind,
      value,
      purpose,
      userId,
      askedBy,
      ip,
      place,
    }: {
      kind: ContactKind;
      value: string;
      purpose: CodePurpose;
      userId: number | null;
      askedBy: number | null;
      ip: string;
      /** Where its own person asks; null: a stranger may. */
      place: KnownPlace | null;
    }): Promise<string> => {
      const target = markOf(kind, value);
      await limits.ask({ kind, value: target.toString('base64url'), ip, userId: askedBy, place });
      const id = randomUUID();
      const code = String(randomInt(1_000_000)).padStart(6, '0');
      const isNew = await store.keepCode(database, {
        id,
        purpose,
        userId,
        targetHash: target,
        codeHash: codeHash(id, code),
        minutes: life,
      });
      if (userId !== null && isNew)
        sendLater(
          kind,
          (settings) => sendCode(keys, settings, kind, value, { code, purpose: purposes[purpose] }),
          { strange: place === null, failed: () => store.noteNotSent(database, id) },
        );
      return id;
    },

    /**
     * Whom a code stands for; null: it is wrong, used or too old. It stays until `use`, so that
     * what is asked for besides can be given. @throws Refusal too_many
     */
    prove: async ({
      kind,
      value,
      purpose,
      id,
      code,
      ip,
    }: {
      kind: ContactKind;
      value: string;
      purpose: CodePurpose;
      id: string;
      code: string;
      ip: string;
    }): Promise<number | null> => {
      await limits.check(ip);
      const tried = { id, purpose, targetHash: markOf(kind, value), most: mostTries };
      const row = await store.tryCode(database, tried);
      const given = codeHash(row?.sameAs ?? id, code.normalize('NFKC').replace(/\s/g, ''));
      if (!row || !timingSafeEqual(row.codeHash, given)) return null;
      return row.userId;
    },

    use: (db: Executor, id: string) => store.useCode(db, id),

    /** Tells somebody by mail what happened to their account, where they have an address. */
    tell: async (userId: number, subject: string, text: string): Promise<void> => {
      const to = await store.contactOf(database, userId, 'mail');
      if (to !== null) write(to, subject, text);
    },
    write,

    /** Sends at once, and says what the service said. */
    trySending: async (kind: ContactKind, to: string): Promise<{ ok: boolean; said: string }> => {
      const settings = await store.readSettings(database);
      if (!isSet(settings, kind))
        throw new Refusal(
          'manage_unsuitable',
          kind === 'mail' ? '邮件还没有打开' : '短信还没有设置',
        );
      try {
        await sendCode(keys, settings, kind, to, { code: '123456', purpose: '试发' });
        return { ok: true, said: '已经交给服务' };
      } catch (error) {
        if (error instanceof NotSent) return { ok: false, said: error.message };
        throw error;
      }
    },
  };
};

export type Contacts = ReturnType<typeof createContacts>;
