import { createHash, randomBytes } from 'node:crypto';
import type { Answer, Parsed } from '#contract/calls.ts';
import { setupSteps, type SetupStep, type SiteFinding } from '#contract/setup.ts';
import type { Host } from '#server/area.ts';
import { checkAddress, type Checks } from '#server/check-address.ts';
import { examine } from '#server/doctor.ts';
import type { Executor } from '#server/db/database.ts';
import { type Context, type Identity, Refusal } from '#server/http/handlers.ts';
import type { Settings } from '#server/settings.ts';
import { hashPassword, passwordFault } from '../auth/password.ts';
import * as store from './setup.store.ts';

type Kept = Pick<Settings, 'publicUrl' | 'payment' | 'adminPassword'>;

/** The printed link can be used for so long, ms; a start while nobody signed in prints a new one. */
const entryMs = 24 * 60 * 60_000;

const digestOf = (code: string): string => createHash('sha256').update(code).digest('hex');

const flagOf = (value: boolean): 0 | 1 => (value ? 1 : 0);

/**
 * Gives the code of the link that signs the first owner in, made anew; null where the owner chose
 * the password, signed in before, or the site was begun long ago.
 */
export const makeEntry = async (db: Executor, settings: Kept): Promise<string | null> => {
  const row = await store.readSetup(db);
  const owner = await store.firstOwner(db);
  if (row.endedAt || settings.adminPassword !== '' || !owner || owner.signedIn) return null;
  return writeEntry(db, owner);
};

const writeEntry = async (
  db: Executor,
  { passwordHash }: { passwordHash: string | null },
): Promise<string> => {
  const code = randomBytes(24).toString('base64url');
  await store.writeSetup(db, {
    firstHash: passwordHash,
    entryHash: digestOf(code),
    entryUntil: new Date(Date.now() + entryMs),
  });
  return code;
};

/** Makes such a link's code for an owner who cannot get in any more; null: there is no owner yet. */
export const renewEntry = async (
  db: Executor,
): Promise<{ account: string; code: string } | null> => {
  const owner = await store.firstOwner(db);
  return owner && { account: owner.account ?? '', code: await writeEntry(db, owner) };
};

/** Why nobody can make an account by this way in, for people; null: they may. */
export const whyNoAccount = async (
  db: Executor,
  /** Somebody's link that counts came along. */
  isInvited: () => Promise<boolean>,
): Promise<string | null> => {
  const { people } = await store.readSetup(db);
  if (people === 'open') return null;
  if (people === 'closed') return '这里不开放注册，请联系管理员';
  return (await isInvited()) ? null : '这里凭邀请注册：请向已经在这里的人要一个邀请链接';
};

/** @throws Refusal login_required where nobody may ask without an account */
export const requireGuests = async (db: Executor): Promise<void> => {
  if (!(await store.readSetup(db)).guests)
    throw new Refusal('login_required', '这里要登录之后才能提问');
};

/** Whether the owner lets people pay. */
export const takesPayment = async (db: Executor): Promise<boolean> =>
  (await store.readSetup(db)).payment;

const doneOf = (
  row: store.SetupRow,
  facts: { madeUp: boolean; services: number; settings: Kept },
): Record<SetupStep, boolean> => ({
  password: !facts.madeUp,
  answer: facts.services > 0,
  address: facts.settings.publicUrl.startsWith('https:'),
  payment: !row.payment || !facts.settings.payment.includes('sandbox'),
  people: false,
});

const stateOf = async (db: Executor, settings: Kept): Promise<Answer<'setupState'>> => {
  const row = await store.readSetup(db);
  const owner = await store.firstOwner(db);
  const madeUp = row.firstHash !== null && owner !== null && owner.passwordHash === row.firstHash;
  const services = await store.answering(db);
  const done = doneOf(row, { madeUp, services: services.length, settings });
  const steps = setupSteps.map((key) => ({
    key,
    done: flagOf(done[key] || row.settled.includes(key)),
  }));
  return {
    ended: flagOf(row.endedAt !== null || steps.every((step) => step.done === 1)),
    steps,
    made_up: flagOf(madeUp),
    services,
    public_url: settings.publicUrl,
    providers: [...settings.payment],
    payment: flagOf(row.payment),
    people: row.people,
    guests: flagOf(row.guests),
  };
};

/** What is written down of a change, for the log of acts. */
const chosen = ({ people, guests, payment, settled, endedAt }: store.SetupRow) => ({
  people,
  guests: flagOf(guests),
  payment: flagOf(payment),
  settle: settled.join(' '),
  ended: flagOf(endedAt !== null),
});

const findings = async (checks: Checks): Promise<SiteFinding[]> => {
  const list: SiteFinding[] = [];
  for await (const { advice = '', ...finding } of checks) list.push({ ...finding, advice });
  return list;
};

/** The path of five steps from the first start to a site that is ready. */
export const createSetup = ({ settings, auth, log }: Pick<Host, 'settings' | 'auth' | 'log'>) => {
  const looking = new Map<string, Promise<SiteFinding[]>>();
  return {
    state: (db: Executor) => stateOf(db, settings),

    /** @throws Refusal not_found */
    enter: async ({ code }: Parsed<'setupEnter'>, { db, agent, log }: Context) => {
      if (!(await store.useEntry(db, digestOf(code))))
        throw new Refusal('not_found', '这个链接不对、用过了或已过期');
      const owner = await store.firstOwner(db);
      const token = owner && (await auth.issueToken(db, owner.id, agent));
      if (!owner || !token) throw new Refusal('not_found', '这个链接不能再用了');
      log.info({ event: 'setup_entered', userId: owner.id }, 'the first owner entered by the link');
      return { token, profile: await auth.userView(db, owner.id) };
    },

    save: async (input: Parsed<'saveSetup'>, { db, noteAct }: Context<Identity>) => {
      const before = await store.readSetup(db);
      // Whoever chooses who may come has settled that.
      const settled = [
        ...before.settled,
        ...(input.settle ? [input.settle] : []),
        ...(input.people === undefined ? [] : (['people'] as const)),
      ];
      const after = await store.writeSetup(db, {
        settled: [...new Set(settled)],
        ...(input.people !== undefined && { people: input.people }),
        ...(input.guests !== undefined && { guests: input.guests === 1 }),
        ...(input.payment !== undefined && { payment: input.payment === 1 }),
        ...(input.ended !== undefined && { endedAt: input.ended === 1 ? new Date() : null }),
      });
      noteAct({ subject: 'setup', from: chosen(before), to: chosen(after) });
      return stateOf(db, settings);
    },

    /**
     * Takes the place of the password that was made up. Who came by the link just now need not know
     * that one; other logins must, as anywhere.
     * @throws Refusal not_found, bad_input, confirm_needed, wrong_password
     */
    changePassword: async (
      { new_password: wanted, password }: Parsed<'setupPassword'>,
      { db, user, ip, log, noteAct }: Context<Identity>,
    ) => {
      const { firstHash } = await store.readSetup(db);
      if (firstHash === null || !(await store.hasPassword(db, user.id, firstHash)))
        throw new Refusal('not_found', '密码已经换过了：再换请到账户的“安全”里');
      const wrong = passwordFault(wanted, 'admin');
      if (wrong) throw new Refusal('bad_input', `new_password：${wrong}`);
      await auth.confirm('recent', password, { user, ip, log });
      const to = await hashPassword(wanted, user);
      if (!(await store.changePassword(db, user, { from: firstHash, to })))
        throw new Refusal('not_found', '密码已经换过了：再换请到账户的“安全”里');
      noteAct({ subject: `user:${user.id}`, from: { made_up: 1 }, to: { made_up: 0 } });
      return stateOf(db, settings);
    },

    /** What `npm run doctor` would say here; asked by several at once it is looked once. */
    check: (part: 'all' | 'address'): Promise<SiteFinding[]> => {
      const begun =
        looking.get(part) ??
        findings(part === 'all' ? examine(settings, log) : checkAddress(settings)).finally(() =>
          looking.delete(part),
        );
      looking.set(part, begun);
      return begun;
    },
  };
};
