import { randomUUID } from 'node:crypto';
import { calls, type Out, type Parsed } from '#contract/calls.ts';
import { searches } from '#contract/manage-model.ts';
import type { Executor } from '#server/db/database.ts';
import { isChatService } from '#server/engines/chat-service.ts';
import { type ActNote, type Identity, Refusal } from '#server/http/handlers.ts';
import type { GuardedFetch } from '#server/net/guarded-fetch.ts';
import { wireOf } from './channel-engines.ts';
import { extrasOf, requireFitting } from './channel-extras.ts';
import { type KeyBox, keysIn, openedKeys } from './channel-key.ts';
import { channelPresets } from './channel-presets.ts';
import { tryService } from './channel-trial.ts';
import { channelView, lineView, noChannel } from './channel-view.ts';
import { readChannelList } from './import-channels.ts';
import * as store from './manage-model.store.ts';
import { type ChannelRow, lockCatalogue, setChannelModels } from './model.store.ts';
import { plan } from './new-models.ts';

type Note = (act: ActNote) => void;

/** The channel, and that it is one that managers change. */
const own = async (db: Executor, id: number): Promise<ChannelRow> => {
  const channel = await store.findChannel(db, id);
  if (!channel) throw noChannel();
  if (channel.source === 'environment' || channel.source === 'built-in')
    throw new Refusal(
      'manage_unsuitable',
      '这个服务来自服务器的环境变量或内置，请在那里更改；模型的价格与显示可以在“模型”里改',
    );
  return channel;
};

export const channelList = async (keys: KeyBox, db: Executor): Promise<Out<'channelList'>> => ({
  list: (await store.listChannels(db)).map((row) =>
    channelView(row, openedKeys(keys, row.channel)),
  ),
});

export const channelHealth = async (db: Executor, id: number): Promise<Out<'channelHealth'>> => {
  if (!(await store.findChannel(db, id))) throw noChannel();
  const now = new Date();
  return { list: (await store.linesOf(db, id)).map((row) => lineView(row, now)) };
};

export const presets = async (db: Executor): Promise<Out<'channelPresets'>> => ({
  list: [...channelPresets],
  first: !(await store.hasService(db)),
});

export const testChannel = async (
  { keys, fetch }: { keys: KeyBox; fetch: GuardedFetch },
  db: Executor,
  input: Parsed<'testChannel'>,
  user: Pick<Identity, 'owner'>,
): Promise<(db: Executor) => Promise<Out<'testChannel'>>> => {
  const known = input.id === undefined ? null : await store.findChannel(db, input.id);
  if (input.id !== undefined && !known) throw noChannel();
  const moved = isMoved(known, input);
  // A key that is kept goes only to the address it was entered for.
  const kept = known && !moved ? (openedKeys(keys, known) ?? '') : '';
  const [secret = ''] = keysIn(input.api_key || kept);
  requireFitting(input);
  const wire = wireOf(extrasOf(input, { options: known?.options ?? {}, moved }, user));
  const trial = await tryService(fetch, {
    ...input,
    baseUrl: input.base_url,
    secret,
    wire,
    search: input.search ?? known?.options.search,
  });
  return async (tx) => {
    if (known && !moved) {
      await store.noteTrial(tx, known.id, trial);
      await store.noteLearned(tx, known.id, trial);
    }
    return trial;
  };
};

/** It goes to another address from now on. */
const isMoved = (known: ChannelRow | null, { base_url: url }: { base_url: string }): boolean =>
  known !== null && known.baseUrl !== url;

/** The models that a form names, as far as the form may be saved. @throws Refusal bad_input */
const checked = async (
  db: Executor,
  input: Parsed<'saveChannel'>,
  known: ChannelRow | null,
  groups: readonly number[],
) => {
  requireFitting(input);
  if (isMoved(known, input) && !input.api_key?.trim() && known?.keyEncrypted)
    throw new Refusal('bad_input', 'api_key 地址变了，请重新填写密钥');
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
  if (!(await store.haveGroups(db, groups)))
    throw new Refusal('bad_input', 'groups：有的用户组已经删除，请重新选择');
  const wanted = plan(input.kind, named);
  if (!aside && wanted.length === 0) throw new Refusal('bad_input', 'models 请至少选一个模型');
  return { aside, named, wanted };
};

/** @throws Refusal bad_input, not_found, manage_unsuitable */
export const saveChannel = async (
  keys: KeyBox,
  db: Executor,
  input: Parsed<'saveChannel'>,
  user: Pick<Identity, 'owner'>,
  note: Note,
): Promise<Out<'saveChannel'>> => {
  await lockCatalogue(db);
  const known = input.id === undefined ? null : await own(db, input.id);
  const key = known?.key ?? `manager ${randomUUID()}`;
  const secret = input.api_key?.trim() ?? '';
  const moved = isMoved(known, input);
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
  const { aside, named, wanted } = await checked(db, input, known, values.options.groups ?? []);
  const id = known?.id ?? (await store.insertChannel(db, { ...values, key, source: 'manager' }));
  if (!aside) await setChannelModels(db, id, wanted, input.weight);
  if (isChatService(input.kind))
    await store.setUpstreamNames(
      db,
      id,
      input.models.map(({ name, upstream = name }) => ({ name, upstream })),
    );
  await store.noteLearned(db, id, input);
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

/** Adds what a list of another program names; each by itself, so that one fault leaves out one. */
export const importChannels = async (
  keys: KeyBox,
  db: Executor,
  text: string,
  user: Identity,
  note: Note,
): Promise<Out<'importChannels'>> => {
  const { channels, skipped } = readChannelList(text);
  const added: Out<'importChannels'>['added'] = [];
  for (const { groups: names, ...channel } of channels) {
    const groups = await store.groupsNamed(db, names);
    const missing = names.find((name) => !groups.has(name));
    // Nobody gets what the list keeps from them.
    if (missing !== undefined) {
      skipped.push({ label: channel.label, reason: `没有用户组“${missing}”，请先添加` });
      continue;
    }
    const checked = calls.saveChannel.input.safeParse({
      ...channel,
      groups: [...groups.values()],
    });
    if (!checked.success) {
      skipped.push({ label: channel.label, reason: '地址或模型的写法不对' });
      continue;
    }
    try {
      const { id } = await saveChannel(keys, db, checked.data, user, () => undefined);
      added.push({ id, label: channel.label });
    } catch (error) {
      // What is refused is refused before anything is written of it.
      if (!(error instanceof Refusal)) throw error;
      skipped.push({ label: channel.label, reason: error.message });
    }
  }
  note({ subject: 'channels', to: { added, skipped } });
  return { added, skipped };
};

export const changeChannel = async (
  db: Executor,
  input: Parsed<'setChannel'>,
  note: Note,
): Promise<void> => {
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
};

export const removeChannel = async (db: Executor, id: number, note: Note): Promise<void> => {
  const channel = await own(db, id);
  if (channel.source === 'local')
    throw new Refusal('manage_unsuitable', '本机发现的服务删了还会再找到，请停用它');
  await store.removeChannel(db, channel.id);
  note({
    subject: `channel:${channel.id}`,
    from: { label: channel.label, base_url: channel.baseUrl },
  });
};
