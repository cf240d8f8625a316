import { Agent, type Dispatcher, request } from 'undici';
import * as z from 'zod/mini';
import type { Maker } from '#contract/makers.ts';
import { apiUrl } from './address.ts';
import { keyHeaders, makerAt, type Service } from './makers.ts';

/** What is left on the account of a key, in the service's own money. */
export interface Balance {
  amount: number;
  /** Such as CNY. */
  unit: string;
}

const agent = new Agent({ connect: { timeout: 10_000 }, maxResponseSize: 256 * 1024 });
const patience = 15_000;

/** Some write numbers as texts. */
const amount = z.pipe(
  z.union([z.number(), z.string().check(z.regex(/^-?\d{1,15}(?:\.\d{1,10})?$/))]),
  z.transform(Number),
);

type Ask = (path: string) => Promise<unknown>;

const deepSeek = z.looseObject({
  balance_infos: z.array(z.looseObject({ currency: z.string(), total_balance: amount })),
});
const siliconFlow = z.looseObject({ data: z.looseObject({ totalBalance: amount }) });
const moonshot = z.looseObject({ data: z.looseObject({ available_balance: amount }) });
const openRouter = z.looseObject({
  data: z.looseObject({ total_credits: amount, total_usage: amount }),
});
const subscription = z.looseObject({ hard_limit_usd: amount });
/** Hundredths. */
const usage = z.looseObject({ total_usage: amount });

/** How each service that tells it is asked: by its own paths below its base. */
const ways: Readonly<Partial<Record<Maker, (ask: Ask, service: Service) => Promise<Balance>>>> = {
  deepseek: async (ask) => {
    const { balance_infos: all } = deepSeek.parse(await ask('../user/balance'));
    const [first] = [...all].sort((a, b) => b.total_balance - a.total_balance);
    if (!first) throw new Error('no balance is told');
    return { amount: first.total_balance, unit: first.currency };
  },
  siliconflow: async (ask, { baseUrl }) => ({
    amount: siliconFlow.parse(await ask('user/info')).data.totalBalance,
    unit: /\.com\b/.test(baseUrl) ? 'USD' : 'CNY',
  }),
  kimi: async (ask, { baseUrl }) => ({
    amount: moonshot.parse(await ask('users/me/balance')).data.available_balance,
    unit: /\.ai\b/.test(baseUrl) ? 'USD' : 'CNY',
  }),
  openrouter: async (ask) => {
    const { data } = openRouter.parse(await ask('credits'));
    return { amount: data.total_credits - data.total_usage, unit: 'USD' };
  },
  // OpenAI's old paths, which one-api, new-api and their kin answer of the token that asks.
  'new-api': async (ask) => {
    const { hard_limit_usd: most } = subscription.parse(
      await ask('dashboard/billing/subscription'),
    );
    const { total_usage: used } = usage.parse(await ask('dashboard/billing/usage'));
    return { amount: most - used / 100, unit: 'USD' };
  },
};

/** Whether a service is known to tell what is left. */
export const tellsBalance = ({ maker, baseUrl }: Service): boolean =>
  (maker ?? makerAt(baseUrl) ?? 'new-api') in ways;

/** Asks for it. Rejects where it is not told, or not understood. */
export const askBalance = async (
  service: Service,
  apiKey: string,
  /** Left out: straight to the service. */
  dispatcher: Dispatcher = agent,
): Promise<Balance> => {
  const maker = service.maker ?? makerAt(service.baseUrl) ?? 'new-api';
  const way = ways[maker];
  if (!way) throw new Error(`${maker} tells no balance`);
  const signal = AbortSignal.timeout(patience);
  const told = await way(async (path) => {
    const { statusCode, body } = await request(apiUrl(service.baseUrl, path), {
      dispatcher,
      signal,
      headers: keyHeaders(service, apiKey),
    });
    if (statusCode !== 200) {
      await body.dump();
      throw new Error(`the service answered ${statusCode}`);
    }
    return body.json();
  }, service);
  if (!Number.isFinite(told.amount)) throw new Error('no balance is told');
  return { amount: Math.round(told.amount * 1e4) / 1e4, unit: told.unit.slice(0, 10) };
};
