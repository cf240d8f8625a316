import {
  invitation,
  orderLifetime,
  quantities,
  tokenOffText,
  tokenPrice,
  vipOffText,
  vipPrice,
} from '#contract/goods.ts';
import { knowledgeLimits } from '#contract/train-limits.ts';
import { limits } from '#contract/limits.ts';

const inTenThousands = (count: number): string => `${count / 10_000} 万`;
const inMegabytes = (bytes: number): string => `${bytes / 1024 ** 2} MB`;

/** Numbers of the contract that help pages name: a page writes `{{tokenPrice}}`. */
const facts: Record<string, string> = {
  tokenPrice: `${tokenPrice.each / 100} 元`,
  tokenOff: tokenOffText,
  tokenMost: String(quantities.token.max),
  vipPrice: `${vipPrice.each / 100} 元`,
  vipOff: vipOffText,
  vipTokens: inTenThousands(limits.vipMonthlyTokens),
  orderHours: `${orderLifetime / 3_600_000} 小时`,
  inviteTokens: inTenThousands(invitation.tokens),
  inviteDays: `${invitation.days} 天`,
  inviteADay: String(invitation.aDay),
  inviteOfNetwork: String(invitation.ofNetwork),
  inviteOfProvider: String(invitation.ofProvider),
  inviteActiveDays: `${invitation.activeDays} 天`,
  signupTokens: limits.signupTokens.toLocaleString('en'),
  freeSessions: String(limits.freeSessionsAMonth),
  imageSize: inMegabytes(limits.imageBytes),
  images: String(limits.visionImages),
  apiKeys: String(limits.apiKeys),
  accountLength: `${limits.account.min} 到 ${limits.account.max}`,
  passwordLength: String(limits.password.min),
  pairs: String(knowledgeLimits.pairs),
  watches: String(knowledgeLimits.watches),
  watchFailures: String(knowledgeLimits.watchFailures),
  promptLength: String(limits.defaultMaxPrompt),
};

/** A page with its facts in. Throws where it names one that does not exist. */
export const withFacts = (page: string): string =>
  page.replaceAll(/\{\{(\w+)\}\}/g, (_, name: string) => {
    const fact = facts[name];
    if (fact === undefined) throw new Error(`help names an unknown fact: ${name}`);
    return fact;
  });
