import { randomUUID } from 'node:crypto';
import { calls, type Out, type Parsed } from '#contract/calls.ts';
import {
  searches,
  type AdminChannel,
  type AdminModel,
  type ImageChoice,
} from '#contract/manage-model.ts';
import { modelTypes } from '#contract/kinds.ts';
import { usualSizeRates } from '#contract/price.ts';
import type { Executor } from '#server/db/database.ts';
import { type ActNote, type Identity, Refusal } from '#server/http/handlers.ts';
import type { GuardedFetch } from '#server/net/guarded-fetch.ts';
import { makerAt } from '#server/engines/openai-compatible/makers.ts';
import { hintOf, keysIn, type KeyBox } from './channel-key.ts';
import { balanceOf } from './channel-balance.ts';
import { extrasOf } from './channel-extras.ts';
import { maskedHeaders } from './channel-wire.ts';
import { readChannelList } from './import-channels.ts';
import { channelPresets } from './channel-presets.ts';
import { tryService } from './channel-trial.ts';
import * as store from './manage-model.store.ts';
import { acceleratorOrigin } from './model-view.ts';
import { percentile95 } from './first-words.ts';
import { plan } from './new-models.ts';
import { imageOf } from './resolved-model.ts';
import { lockCatalogue, setChannelModels, type ChannelRow, type ModelRow } from './model.store.ts';

const saveInput = calls.saveChannel.input;

type Note = (act: ActNote) => void;

const flagOf = (value: boolean): 0 | 1 => (value ? 1 : 0);

const jsonOf = (value: object | undefined): string =>
  value === undefined || Object.keys(value).length === 0 ? '' : JSON.stringify(value, null, 2);

const noChoice: ImageChoice = { sizes: [], checkpoints: [], factors: {} };

/** What a model of images offers, also what of it is not offered now. */
const imageView = (row: ModelRow) => {
  const image = imageOf({ ...row, imageChoice: null });
  const { factors } = row.imageChoice ?? noChoice;
  return {
    sizes: image?.sizes ?? [],
    checkpoints: image?.checkpoints.map(({ name }) => name) ?? [],
    factors: Object.fromEntries(
      (image?.checkpoints ?? []).map(({ name, factor }) => [
        name,
        factors[name] ?? factor ?? row.factor,
      ]),
    ),
    image_choice: image && (row.imageChoice ?? noChoice),
  };
};

const modelView = (row: ModelRow, channels: AdminModel['channels']): AdminModel => ({
  id: row.id,
  unique_key: row.name,
  name: row.name,
  label: row.label,
  type: row.type,
  color: row.color,
  logo: row.logo,
  remarks: row.remark,
  factor: row.factor,
  prompt_factor: row.promptFactor,
  cached_factor: row.cachedFactor,
  written_factor: row.writtenFactor,
  display: flagOf(row.display),
  disable: flagOf(!row.enabled),
  vip_excluded: flagOf(row.vipExcluded),
  vip: flagOf(row.paidOnly),
  private: flagOf(row.managersOnly),
  size_rate: row.type === modelTypes.image ? [...(row.sizeRates ?? usualSizeRates)] : [],
  vision: flagOf(row.vision),
  max_prompt: row.maxPrompt,
  max_tokens: row.maxTokens,
  accelerator: row.accelerator,
  disable_api: flagOf(row.disableApi),
  api_max_tokens: row.apiMaxTokens,
  ...imageView(row),
  sort: row.sort,
  channels,
  created_at: row.createdAt.toISOString(),
});

const changesOf = (input: Parsed<'setModel'>): Partial<ModelRow> => {
  const values: Partial<ModelRow> = {};
  if (input.label !== undefined) values.label = input.label;
  if (input.color !== undefined) values.color = input.color;
  if (input.logo !== undefined) values.logo = input.logo;
  if (input.remarks !== undefined) values.remark = input.remarks;
  if (input.factor !== undefined) values.factor = input.factor;
  if (input.prompt_factor !== undefined) values.promptFactor = input.prompt_factor;
  if (input.cached_factor !== undefined) values.cachedFactor = input.cached_factor;
  if (input.written_factor !== undefined) values.writtenFactor = input.written_factor;
  if (input.display !== undefined) values.display = input.display === 1;
  if (input.disable !== undefined) values.enabled = input.disable === 0;
  if (input.vip_excluded !== undefined) values.vipExcluded = input.vip_excluded === 1;
  if (input.vip !== undefined) values.paidOnly = input.vip === 1;
  if (input.private !== undefined) values.managersOnly = input.private === 1;
  if (input.size_rate !== undefined)
    values.sizeRates = input.size_rate.length > 0 ? input.size_rate : null;
  if (input.vision !== undefined) values.vision = input.vision === 1;
  if (input.max_prompt !== undefined) values.maxPrompt = input.max_prompt;
  if (input.max_tokens !== undefined) values.maxTokens = input.max_tokens;
  if (input.accelerator !== undefined) values.accelerator = input.accelerator;
  if (input.disable_api !== undefined) values.disableApi = input.disable_api === 1;
  if (input.api_max_tokens !== undefined) values.apiMaxTokens = input.api_max_tokens;
  if (input.sort !== undefined) values.sort = input.sort;
  return values;
};

export const createManageModelService = ({
  keys,
  fetch,
}: {
  keys: KeyBox;
  fetch: GuardedFetch;
}) => {
  /** Null: it has a key that SECRET_KEY does not open. */
  const sealedOf = (channel: ChannelRow): string | null =>
    channel.keyEncrypted ? keys.open(channel.keyEncrypted, channel.key) : '';
  const secretOf = (channel: ChannelRow): string => sealedOf(channel) ?? '';

  const channelView = ({
    channel,
    health,
    models: names,
    spent,
  }: Awaited<ReturnType<typeof store.listChannels>>[number]): AdminChannel => {
    const secret = sealedOf(channel);
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
      body: jsonOf(channel.options.body),
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

  /** The channel, and that it is one that managers change. */
  const own = async (db: Executor, id: number): Promise<ChannelRow> => {
    const channel = await store.findChannel(db, id);
    if (!channel) throw new Refusal('not_found', '没有这个服务');
    if (channel.source === 'environment' || channel.source === 'built-in')
      throw new Refusal(
        'manage_unsuitable',
        '这个服务来自服务器的环境变量或内置，请在那里更改；模型的价格与显示可以在“模型”里改',
      );
    return channel;
  };

  const save = async (
    db: Executor,
    input: Parsed<'saveChannel'>,
    user: Pick<Identity, 'owner'>,
    note: Note,
  ): Promise<Out<'saveChannel'>> => {
    await lockCatalogue(db);
    const known = input.id === undefined ? null : await own(db, input.id);
    const key = known?.key ?? `manager ${randomUUID()}`;
    const moved = known !== null && known.baseUrl !== input.base_url;
    const secret = input.api_key?.trim() ?? '';
    if (moved && secret === '' && known.keyEncrypted)
      throw new Refusal('bad_input', 'api_key 地址变了，请重新填写密钥');
    const values = {
      kind: input.kind,
      label: input.label,
      baseUrl: input.base_url.replace(/\/+$/, ''),
      enabled: input.enabled === 1,
      weight: input.weight,
      priority: input.priority,
      options: {
        ...(input.kind === 'embedding' ? { models: input.models.map(({ name }) => name) } : {}),
        ...(input.trainer ? { trainer: input.trainer } : {}),
        ...(input.destination ? { destination: input.destination } : {}),
        ...(input.kind === 'json-search' ? { search: input.search } : {}),
        ...extrasOf(input, { options: known?.options ?? {}, moved }, user),
      },
      ...(secret === '' ? {} : { keyEncrypted: keys.seal(keysIn(secret).join('\n'), key) }),
    };
    const aside = input.kind === 'embedding' || input.kind === 'replicate' || searches(input.kind);
    const named = input.models.map(({ name }) => name);
    if (input.kind === 'embedding' && named.length === 0)
      throw new Refusal('bad_input', 'models 请至少写一个模型');
    if (input.kind === 'replicate' && (!input.trainer || !input.destination))
      throw new Refusal(
        'bad_input',
        `${input.trainer ? 'destination' : 'trainer'} 请填写训练器与结果放到的模型`,
      );
    if (input.kind === 'json-search' && !input.base_url.includes('{query}'))
      throw new Refusal('bad_input', 'base_url 请在放搜索词的地方写 {query}');
    if (input.kind === 'json-search' && !input.search)
      throw new Refusal('bad_input', 'search 请填写结果在回答里的位置');
    const { groups = [] } = values.options;
    if (!(await store.haveGroups(db, groups)))
      throw new Refusal('bad_input', 'groups：有的用户组已经删除，请重新选择');
    const wanted = plan(input.kind, named);
    if (!aside && wanted.length === 0) throw new Refusal('bad_input', 'models 请至少选一个模型');
    const id = known?.id ?? (await store.insertChannel(db, { ...values, key, source: 'manager' }));
    if (!aside) await setChannelModels(db, id, wanted, input.weight);
    if (input.kind === 'openai-compatible')
      await store.setUpstreamNames(
        db,
        id,
        input.models.map(({ name, upstream = name }) => ({ name, upstream })),
      );
    if (input.thinking) await store.learnThinking(db, id, input.thinking);
    for (const { name, factor } of input.models)
      if (factor !== undefined) await store.setFactor(db, name, factor);
    await store.changeChannel(db, id, values);
    note({
      subject: `channel:${id}`,
      from: known && { label: known.label, base_url: known.baseUrl, enabled: known.enabled },
      to: {
        label: values.label,
        base_url: values.baseUrl,
        enabled: values.enabled,
        models: aside ? named : wanted.map(({ name }) => name),
      },
    });
    return { id };
  };

  return {
    list: async (db: Executor, input: Parsed<'adminModelList'>): Promise<Out<'adminModelList'>> => {
      const rows = await store.pageOfModels(db, input);
      const served = await store.channelsOf(
        db,
        rows.map(({ id }) => id),
      );
      const total = await store.countModels(db, input);
      return {
        list: rows.map((row) =>
          modelView(
            row,
            served
              .filter(({ modelId }) => modelId === row.id)
              .map(({ id, label }) => ({ id, label })),
          ),
        ),
        page: input.page,
        page_count: Math.ceil(total / input.page_size),
        page_size: input.page_size,
        total,
      };
    },

    set: async (
      db: Executor,
      input: Parsed<'setModel'>,
      user: Identity,
      note: Note,
    ): Promise<void> => {
      const row = await store.lockModel(db, input.id);
      if (!row) throw new Refusal('not_found', '没有这个模型');
      // Everybody's replies pass through there; a row may come back as it is.
      if (input.accelerator !== undefined && input.accelerator !== row.accelerator) {
        if (!user.owner) throw new Refusal('manage_unsuitable', '加速地址只有所有者可以更改');
        if (input.accelerator !== '' && acceleratorOrigin(input.accelerator) === null)
          throw new Refusal('bad_input', 'accelerator：应为 https:// 开头的地址');
      }
      const values = changesOf(input);
      const { sizes, checkpoints, factors } = input;
      const image = imageOf({ ...row, imageChoice: null });
      // Of a model without images its row has them empty, too, and a row may come back as it is.
      const empty =
        [sizes ?? [], checkpoints ?? [], Object.keys(factors ?? {})].flat().length === 0;
      if ((sizes ?? checkpoints ?? factors) && (image || !empty)) {
        if (!image) throw new Refusal('manage_unsuitable', '只有画图模型有尺寸与大模型');
        const known = new Set(image.checkpoints.map(({ name }) => name));
        const strange = [...(checkpoints ?? []), ...Object.keys(factors ?? {})].find(
          (name) => !known.has(name),
        );
        if (strange !== undefined)
          throw new Refusal('bad_input', `checkpoints：没有大模型 ${strange}`);
        const before = row.imageChoice ?? noChoice;
        values.imageChoice = {
          sizes: sizes ?? before.sizes,
          checkpoints: checkpoints ?? before.checkpoints,
          factors: factors ?? before.factors,
        };
      }
      await store.changeModel(db, row.id, values);
      note({
        subject: `model:${row.name}`,
        from: Object.fromEntries(
          Object.keys(values).map((key) => [key, row[key as keyof ModelRow]]),
        ),
        to: values,
      });
    },

    channels: async (db: Executor): Promise<Out<'channelList'>> => ({
      list: (await store.listChannels(db)).map(channelView),
    }),

    health: async (db: Executor, id: number): Promise<Out<'channelHealth'>> => {
      if (!(await store.findChannel(db, id))) throw new Refusal('not_found', '没有这个服务');
      const now = new Date();
      return {
        list: (await store.linesOf(db, id)).map((row) => {
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
        }),
      };
    },

    presets: async (db: Executor): Promise<Out<'channelPresets'>> => ({
      list: [...channelPresets],
      first: !(await store.hasService(db)),
    }),

    test: async (
      db: Executor,
      input: Parsed<'testChannel'>,
    ): Promise<(db: Executor) => Promise<Out<'testChannel'>>> => {
      const known = input.id === undefined ? null : await store.findChannel(db, input.id);
      if (input.id !== undefined && !known) throw new Refusal('not_found', '没有这个服务');
      // A key that is kept goes only to the address it was entered for.
      const kept = known && known.baseUrl === input.base_url ? secretOf(known) : '';
      const [secret = ''] = keysIn(input.api_key || kept);
      const trial = await tryService(fetch, {
        ...input,
        baseUrl: input.base_url,
        secret,
        maker: input.maker === undefined ? known?.options.maker : (input.maker ?? undefined),
        search: input.search ?? known?.options.search,
      });
      return async (tx) => {
        if (known && known.baseUrl === input.base_url) {
          await store.noteTrial(tx, known.id, trial);
          if (trial.thinking) await store.learnThinking(tx, known.id, trial.thinking);
        }
        return trial;
      };
    },

    save,

    balance: (db: Executor, id: number) => balanceOf(db, id, secretOf),

    /** Adds what a list of another program names; each by itself, so that one fault leaves out one. */
    takeOver: async (
      db: Executor,
      text: string,
      user: Identity,
      note: Note,
    ): Promise<Out<'importChannels'>> => {
      const { channels, skipped } = readChannelList(text);
      const added: Out<'importChannels'>['added'] = [];
      for (const channel of channels) {
        const checked = saveInput.safeParse({ kind: 'openai-compatible', ...channel });
        if (!checked.success) {
          skipped.push({ label: channel.label, reason: '地址或模型的写法不对' });
          continue;
        }
        try {
          const { id } = await save(db, checked.data, user, () => undefined);
          added.push({ id, label: channel.label });
        } catch (error) {
          // What is refused is refused before anything is written of it.
          if (!(error instanceof Refusal)) throw error;
          skipped.push({ label: channel.label, reason: error.message });
        }
      }
      note({ subject: 'channels', to: { added, skipped } });
      return { added, skipped };
    },

    change: async (db: Executor, input: Parsed<'setChannel'>, note: Note): Promise<void> => {
      const channel = await own(db, input.id);
      const values = {
        ...(input.enabled === undefined ? {} : { enabled: input.enabled === 1 }),
        ...(input.weight === undefined ? {} : { weight: input.weight }),
        ...(input.priority === undefined ? {} : { priority: input.priority }),
      };
      await store.changeChannel(db, channel.id, values);
      note({
        subject: `channel:${channel.id}`,
        from: {
          enabled: channel.enabled,
          weight: channel.weight,
          priority: channel.priority,
        },
        to: values,
      });
    },

    remove: async (db: Executor, id: number, note: Note): Promise<void> => {
      const channel = await own(db, id);
      if (channel.source === 'local')
        throw new Refusal('manage_unsuitable', '本机发现的服务删了还会再找到，请停用它');
      await store.removeChannel(db, channel.id);
      note({
        subject: `channel:${channel.id}`,
        from: { label: channel.label, base_url: channel.baseUrl },
      });
    },
  };
};
