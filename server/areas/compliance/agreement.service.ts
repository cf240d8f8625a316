import type { AgreedTo } from '#contract/agreement.ts';
import { type AgreementKind, agreementTitles } from '#contract/agreement-kinds.ts';
import type { Answer, Parsed } from '#contract/calls.ts';
import type { Executor } from '#server/db/database.ts';
import { Refusal } from '#server/http/handlers.ts';
import { pageOf, windowOf } from '#server/paging.ts';
import * as store from './agreement.store.ts';
import { readCompliance } from './compliance.store.ts';

type Current = Awaited<ReturnType<typeof store.currentAgreements>>[number];

const viewOf = ({ kind, version, createdAt }: Current) => ({
  kind,
  title: agreementTitles[kind],
  version,
  created_at: createdAt.toISOString(),
});

/** What there is to agree to, and what the caller agreed to. */
export const listAgreements = async (
  db: Executor,
  userId: number | null,
): Promise<Answer<'agreements'>> => {
  const current = await store.currentAgreements(db);
  const own = userId === null ? [] : await store.consentsOf(db, userId);
  const list = current.map((row) => {
    const agreed = own
      .filter(({ kind }) => kind === row.kind)
      .sort((one, other) => other.version - one.version)[0];
    return {
      ...viewOf(row),
      agreed: agreed?.version ?? 0,
      agreed_at: agreed?.createdAt.toISOString() ?? null,
    };
  });
  return { required: (await readCompliance(db)).ask_agreements === 1 && list.length > 0, list };
};

/** @throws Refusal not_found */
export const readAgreement = async (
  db: Executor,
  kind: AgreementKind,
): Promise<Answer<'agreement'>> => {
  const found = (await store.currentAgreements(db)).find((row) => row.kind === kind);
  if (!found) throw new Refusal('not_found', `这里没有《${agreementTitles[kind]}》`);
  return { ...viewOf(found), text: found.text };
};

/** Those of what was agreed to that count now. */
const inForce = (current: readonly Current[], agreed: AgreedTo): AgreedTo =>
  agreed.filter(({ kind, version }) =>
    current.some((row) => row.kind === kind && row.version === version),
  );

/** @throws Refusal manage_unsuitable for a version that is no longer the one that counts */
export const agree = async (db: Executor, userId: number, agreed: AgreedTo): Promise<void> => {
  const kept = inForce(await store.currentAgreements(db), agreed);
  if (kept.length < agreed.length)
    throw new Refusal('manage_unsuitable', '协议已经更新，请看过新的版本再同意');
  await store.insertConsents(db, userId, kept);
};

/** Why somebody cannot register yet; empty: they can. */
export const missingAgreements = async (
  db: Executor,
  agreed: AgreedTo | undefined,
): Promise<string> => {
  if ((await readCompliance(db)).ask_agreements !== 1) return '';
  const current = await store.currentAgreements(db);
  const kept = inForce(current, agreed ?? []);
  const missing = current.filter(({ kind }) => !kept.some((each) => each.kind === kind));
  const names = missing.map(({ kind }) => `《${agreementTitles[kind]}》`).join('');
  return names === '' ? '' : `请先阅读并同意${names}`;
};

/** Keeps what somebody agreed to while registering, as far as it counts. */
export const keepAgreed = async (
  db: Executor,
  userId: number,
  agreed: AgreedTo | undefined,
): Promise<void> => {
  if (agreed === undefined) return;
  await store.insertConsents(db, userId, inForce(await store.currentAgreements(db), agreed));
};

const pageSize = 30;

export const consentList = async (
  db: Executor,
  { page, user_id: userId }: Parsed<'consentList'>,
): Promise<Answer<'consentList'>> => {
  const total = await store.countConsents(db, userId);
  const rows = await store.consentPage(db, {
    userId,
    ...windowOf(page, pageSize),
  });
  return {
    list: rows.map((row) => ({
      user_id: row.userId,
      user_name: row.userName ?? '已注销',
      title: agreementTitles[row.kind],
      version: row.version,
      created_at: row.createdAt.toISOString(),
      withdrawn_at: row.withdrawnAt?.toISOString() ?? null,
    })),
    ...pageOf(total, page, pageSize),
  };
};
