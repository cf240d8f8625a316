import type { AdminChannel } from '#contract/manage-model.ts';
import { makerAt } from '#server/engines/openai-compatible/makers.ts';
import { Refusal } from '#server/http/handlers.ts';
import { hintOf, keysIn } from './channel-key.ts';
import { maskedBody, maskedHeaders } from './channel-wire.ts';
import { percentile95 } from './first-words.ts';
import type { linesOf, listChannels } from './manage-model.store.ts';
import { flagOf } from './model-view.ts';

export const noChannel = () => new Refusal('not_found', '没有这个服务');

const jsonOf = (value: object | undefined): string =>
  value === undefined || Object.keys(value).length === 0 ? '' : JSON.stringify(value, null, 2);

/** A channel as managers see it. `secret`: its keys; null: they cannot be opened. */
export const channelView = (
  { channel, health, models: names, spent }: Awaited<ReturnType<typeof listChannels>>[number],
  secret: string | null,
): AdminChannel => {
  const own = keysIn(secret ?? '');
  return {
    id: channel.id,
    kind: channel.kind,
    label: channel.label,
    base_url: channel.baseUrl,
    source: channel.source,
    enabled: flagOf(channel.enabled),
    weight: channel.weight,
    priority: channel.priority,
    key_count: own.length,
    key_hint: hintOf(own[0] ?? ''),
    models: channel.options.models ?? names.map(({ name }) => name),
    mapping: Object.fromEntries(
      names
        .filter(({ name, upstream }) => name !== upstream)
        .map(({ name, upstream }) => [name, upstream]),
    ),
    headers: jsonOf(maskedHeaders(channel.options.headers)),
    body: jsonOf(maskedBody(channel.options.body)),
    proxy: channel.options.proxy ?? '',
    tag: channel.options.tag ?? '',
    parallel: channel.options.parallel ?? null,
    factor: channel.options.factor ?? 1,
    maker: channel.options.maker ?? '',
    told_maker: channel.kind === 'openai-compatible' ? (makerAt(channel.baseUrl) ?? '') : '',
    groups: channel.options.groups ?? [],
    trainer: channel.options.trainer ?? '',
    destination: channel.options.destination ?? '',
    search: channel.options.search ?? null,
    successes: health?.successes ?? 0,
    failures: health?.failures ?? 0,
    latency: health?.latency ?? null,
    balance:
      typeof health?.balance !== 'number' || health.balanceAt === null
        ? null
        : {
            amount: health.balance,
            unit: health.balanceUnit,
            at: health.balanceAt.toISOString(),
          },
    last_success_at: health?.lastSuccessAt?.toISOString() ?? null,
    last_failure_at: health?.lastFailureAt?.toISOString() ?? null,
    last_error:
      secret === null
        ? '密钥打不开：请换回原来的 SECRET_KEY 或 secret-key，或重新填写'
        : (health?.lastError ?? ''),
    spent,
    created_at: channel.createdAt.toISOString(),
  };
};

/** How one of a channel's keys has served one of its models of late. */
export const lineView = (row: Awaited<ReturnType<typeof linesOf>>[number], now: Date) => {
  const times = row.outcomes.filter(({ result }) => result === 'ok').map(({ ms }) => ms);
  const aside = row.asideUntil !== null && row.asideUntil > now;
  return {
    key_hint: row.keyHint,
    model: row.model,
    outcomes: row.outcomes,
    p95: percentile95(times),
    aside_until: aside ? row.asideUntil!.toISOString() : null,
    aside_reason: aside ? row.asideReason : '',
    strikes: aside ? row.strikes : 0,
    cut_calls: row.cutCalls,
    cut_tokens: row.cutTokens,
  };
};
