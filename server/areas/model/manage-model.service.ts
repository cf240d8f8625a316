import type { Out, Parsed } from '#contract/calls.ts';
import type { AdminModel, ImageChoice } from '#contract/manage-model.ts';
import { modelTypes } from '#contract/kinds.ts';
import { usualSizeRates } from '#contract/price.ts';
import type { Executor } from '#server/db/database.ts';
import { type ActNote, type Identity, Refusal } from '#server/http/handlers.ts';
import { pageOf } from '#server/paging.ts';
import * as store from './manage-model.store.ts';
import { acceleratorOrigin, flagOf } from './model-view.ts';
import type { ModelRow } from './model.store.ts';
import { imageOf } from './resolved-model.ts';

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

const said = (flag: number | undefined): boolean | undefined =>
  flag === undefined ? undefined : flag === 1;

/** The columns that a form names. */
const changesOf = (input: Parsed<'setModel'>): Partial<ModelRow> => {
  const values: Partial<ModelRow> = {
    label: input.label,
    color: input.color,
    logo: input.logo,
    remark: input.remarks,
    factor: input.factor,
    promptFactor: input.prompt_factor,
    cachedFactor: input.cached_factor,
    writtenFactor: input.written_factor,
    display: said(input.display),
    enabled: input.disable === undefined ? undefined : input.disable === 0,
    vipExcluded: said(input.vip_excluded),
    paidOnly: said(input.vip),
    managersOnly: said(input.private),
    sizeRates: input.size_rate?.length === 0 ? null : input.size_rate,
    vision: said(input.vision),
    maxPrompt: input.max_prompt,
    maxTokens: input.max_tokens,
    accelerator: input.accelerator,
    disableApi: said(input.disable_api),
    apiMaxTokens: input.api_max_tokens,
    sort: input.sort,
  };
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
};

export const modelList = async (
  db: Executor,
  input: Parsed<'adminModelList'>,
): Promise<Out<'adminModelList'>> => {
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
        served.filter(({ modelId }) => modelId === row.id).map(({ id, label }) => ({ id, label })),
      ),
    ),
    ...pageOf(total, input.page, input.page_size),
  };
};

/** What a form says of the images that a model offers; null: nothing. @throws Refusal */
const choiceOf = (
  { sizes, checkpoints, factors }: Parsed<'setModel'>,
  row: ModelRow,
): ImageChoice | null => {
  const image = imageOf({ ...row, imageChoice: null });
  // Of a model without images its row has them empty, too, and a row may come back as it is.
  const empty = [sizes ?? [], checkpoints ?? [], Object.keys(factors ?? {})].flat().length === 0;
  if (!(sizes ?? checkpoints ?? factors) || (!image && empty)) return null;
  if (!image) throw new Refusal('manage_unsuitable', '只有画图模型有尺寸与大模型');
  const known = new Set(image.checkpoints.map(({ name }) => name));
  const strange = [...(checkpoints ?? []), ...Object.keys(factors ?? {})].find(
    (name) => !known.has(name),
  );
  if (strange !== undefined) throw new Refusal('bad_input', `checkpoints：没有大模型 ${strange}`);
  const before = row.imageChoice ?? noChoice;
  return {
    sizes: sizes ?? before.sizes,
    checkpoints: checkpoints ?? before.checkpoints,
    factors: factors ?? before.factors,
  };
};

/** @throws Refusal bad_input, not_found, manage_unsuitable */
export const setModel = async (
  db: Executor,
  input: Parsed<'setModel'>,
  user: Identity,
  note: (act: ActNote) => void,
): Promise<void> => {
  const row = await store.lockModel(db, input.id);
  if (!row) throw new Refusal('not_found', '没有这个模型');
  // Everybody's replies pass through there; a row may come back as it is.
  if (input.accelerator !== undefined && input.accelerator !== row.accelerator) {
    if (!user.owner) throw new Refusal('manage_unsuitable', '加速地址只有所有者可以更改');
    if (input.accelerator !== '' && acceleratorOrigin(input.accelerator) === null)
      throw new Refusal('bad_input', 'accelerator：应为 https:// 开头的地址');
  }
  const imageChoice = choiceOf(input, row);
  const values = { ...changesOf(input), ...(imageChoice && { imageChoice }) };
  await store.changeModel(db, row.id, values);
  note({
    subject: `model:${row.name}`,
    from: Object.fromEntries(Object.keys(values).map((key) => [key, row[key as keyof ModelRow]])),
    to: values,
  });
};
