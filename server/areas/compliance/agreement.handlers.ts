import { agreementTitles } from '#contract/agreement-kinds.ts';
import type { Handlers } from '#server/http/handlers.ts';
import { createKeyLimit } from '#server/http/rate-limit.ts';
import { agree, consentList, listAgreements, readAgreement } from './agreement.service.ts';
import * as store from './agreement.store.ts';
import { type ListParties, thirdParties } from './third-parties.ts';

type Served =
  | 'agreements'
  | 'agreement'
  | 'thirdParties'
  | 'agree'
  | 'withdrawAgreement'
  | 'saveAgreement'
  | 'consentList';

/** Agreeing leaves a row that is kept for good: so many times a day somebody may. */
const aDay = 30;

export const createAgreementHandlers = (
  parties: readonly ListParties[],
): Pick<Handlers, Served> => {
  const limitPerson = createKeyLimit(aDay, 86_400, 'agreements agreed to');
  return {
    agreements: (_input, { db, user }) => listAgreements(db, user?.id ?? null),

    agreement: ({ kind }, { db }) => readAgreement(db, kind),

    thirdParties: (_input, { db }) => thirdParties(db, parties),

    agree: async ({ agreed }, { db, user }) => {
      await limitPerson(String(user.id));
      await agree(db, user.id, agreed);
      return {};
    },

    withdrawAgreement: async ({ kind }, { db, user }) => {
      await store.withdrawConsents(db, user.id, kind);
      return {};
    },

    saveAgreement: async ({ kind, text }, { db, noteAct }) => {
      const version = await store.insertAgreement(db, kind, text.trim());
      noteAct({ subject: 'compliance', to: { name: agreementTitles[kind], version } });
      return { version };
    },

    consentList: (input, { db }) => consentList(db, input),
  };
};
