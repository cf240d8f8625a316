import { Tag } from '#src/ui/chip.tsx';
import { yuanOfMillion } from '#contract/goods.ts';
import { modelTypes } from '#contract/kinds.ts';
import { bounds } from '#contract/bounds.ts';
import { api } from '#src/platform/api.ts';
import { keepLast, useCall } from '#src/platform/call-query.ts';
import { useMe } from '#src/platform/queries.ts';
import { toast } from '#src/platform/toast.ts';
import { FilterBar } from '#src/ui/filter-bar/filter-bar.tsx';
import { Form } from '#src/ui/form/form.tsx';
import type { Field } from '#src/ui/form/field.ts';
import { Sheet } from '#src/ui/sheet.tsx';
import { ChosenActs } from '#src/ui/table/chosen-acts.tsx';
import { DataTable, type Column } from '#src/ui/table/data-table.tsx';
import { pageProps } from '#src/ui/table/page-props.ts';
import { sortInput } from '#src/ui/table/sorted.ts';
import { useTableSearch } from '#src/ui/table/use-table-search.ts';
import type { In } from '#contract/calls.ts';
import { imageSizes } from '#contract/image-size.ts';
import type { AdminModel } from '#contract/manage-model.ts';
import { useState } from 'react';
import { typeNames } from './model-facts.ts';

const marks = (row: AdminModel): string[] =>
  [
    row.disable && '已停用',
    !row.display && '不显示',
    row.vip_excluded && '会员除外',
    row.vip && '付费用户',
    row.private && '管理员',
    row.vision && '看图',
    row.disable_api && '不给 API',
    row.channels.length === 0 && '没有服务',
  ].filter((mark) => typeof mark === 'string');

const columns: readonly Column<AdminModel>[] = [
  { key: 'label', title: '名称', value: (row) => row.label, role: 'title' },
  { key: 'unique_key', title: '模型', value: (row) => row.unique_key, wide: true, role: 'plain' },
  {
    key: 'type',
    title: '类型',
    value: (row) => typeNames[row.type] ?? String(row.type),
    role: 'plain',
  },
  {
    key: 'factor',
    title: '价格',
    value: (row) => row.factor,
    render: (row) =>
      row.type === modelTypes.chat && row.factor > 0
        ? `${row.factor}（${yuanOfMillion(row.factor)} 元/100 万 tokens）`
        : row.factor,
    align: 'end',
  },
  {
    key: 'prompt_factor',
    title: '提问价格',
    value: (row) => row.prompt_factor,
    align: 'end',
    spare: true,
  },
  {
    key: 'marks',
    title: '标记',
    role: 'plain',
    value: (row) => marks(row).join(' '),
    render: (row) => (
      <span className="row">
        {marks(row).map((mark) => (
          <Tag key={mark}>{mark}</Tag>
        ))}
      </span>
    ),
  },
  {
    key: 'channels',
    title: '服务',
    value: (row) => row.channels.map(({ label }) => label).join('、'),
  },
  { key: 'sort', title: '顺序', value: (row) => row.sort, align: 'end' },
];

const money = 100_000_000;
const usualFields: readonly Field[] = [
  { name: 'label', kind: 'text', required: true, ...bounds.model.label },
  { name: 'remarks', label: '说明', kind: 'text', ...bounds.model.remarks },
  {
    name: 'factor',
    kind: 'number',
    required: true,
    min: 0,
    max: money,
    step: 0.01,
    hint: '聊天：每个 token 扣多少；画图：每张扣多少。0 免费，访客也能用',
  },
  {
    name: 'prompt_factor',
    kind: 'number',
    min: 0,
    max: money,
    step: 0.01,
    hint: '留空：和上面一样',
  },
  {
    name: 'cached_factor',
    kind: 'number',
    min: 0,
    max: money,
    step: 0.001,
    hint: '提问中，服务从缓存读到的部分；留空：和提问一样，不会比提问贵',
  },
  {
    name: 'written_factor',
    kind: 'number',
    min: 0,
    max: money,
    step: 0.001,
    hint: '提问中，服务写进缓存的部分（Anthropic 是提问的 1.25 倍）；留空：和提问一样',
  },
  {
    name: 'sort',
    kind: 'number',
    required: true,
    ...bounds.model.sort,
    hint: '小的在前',
  },
  { name: 'display', kind: 'switch', hint: '关掉之后不在列表里，用着它的会话照常' },
  { name: 'disable', kind: 'switch', hint: '谁都不能再用' },
  { name: 'vip_excluded', kind: 'switch', hint: '会员的额度不能用在它上面' },
  {
    name: 'vip',
    kind: 'switch',
    hint: '充值过一次或是会员的人才能用',
  },
  { name: 'private', label: '只给管理员', kind: 'switch', hint: '别人看不到，也不能用' },
  { name: 'vision', kind: 'switch' },
  { name: 'max_prompt', kind: 'number', ...bounds.model.size, unit: '字' },
  {
    name: 'max_tokens',
    kind: 'number',
    ...bounds.model.size,
    unit: 'tokens',
  },
  {
    name: 'disable_api',
    kind: 'switch',
    hint: '公开的 API 不能用它，网页里照常',
  },
  {
    name: 'api_max_tokens',
    kind: 'number',
    ...bounds.model.size,
    unit: 'tokens',
    hint: '提问与回答合计；留空：4096',
  },
  { name: 'color', kind: 'colour' },
  { name: 'logo', label: '图标地址', kind: 'text', ...bounds.model.address },
  {
    name: 'accelerator',
    kind: 'text',
    ...bounds.model.address,
    hint: '另一个地址直接送来回复；留空：这个服务器',
  },
];

/** Of a model of images. */
const imageFields = (model: AdminModel): Field[] => [
  {
    name: 'sizes',
    kind: 'many',
    options: imageSizes.map(({ width, height }) => ({
      value: `${width}x${height}`,
      label: `${width}×${height}`,
    })),
    hint: `一个都不选：按服务说的${model.sizes.length > 0 ? `（${model.sizes.join('、')}）` : ''}`,
  },
  {
    name: 'size_rate',
    kind: 'text',
    placeholder: '0.7 0.8 0.9 1',
    hint: '从编号 0 起，用空格隔开，更大的编号和最后一个一样；留空：0.7 0.8 0.9 1',
    check: (value) =>
      ratesIn(value).every((rate) => rate > 0 && rate <= 100) ? undefined : '应为大于 0 的数',
  },
  ...(model.checkpoints.length === 0
    ? []
    : [
        {
          name: 'checkpoints',
          kind: 'many',
          options: model.checkpoints.map((name) => ({ value: name, label: name })),
          hint: '大家只能选这些；一个都不选：全部',
        } satisfies Field,
        {
          name: 'factors',
          label: '大模型的价格',
          kind: 'long',
          mono: true,
          lines: 3,
          placeholder: '名字 价格',
          hint: '一行一个：名字，空格，每张扣多少。不写的和上面一样',
          check: (value) => {
            const lines = linesIn(value);
            const strange = lines.find((line) => factorIn(line) === null);
            if (strange !== undefined) return `看不懂这一行：${strange}`;
            const unknown = lines
              .map((line) => factorIn(line)?.[0] ?? '')
              .find((name) => !model.checkpoints.includes(name));
            return unknown === undefined ? undefined : `没有大模型 ${unknown}`;
          },
        } satisfies Field,
      ]),
];

const ratesIn = (value: unknown): number[] =>
  (typeof value === 'string' ? value : '')
    .split(/[\s,，、]+/)
    .filter((word) => word !== '')
    .map(Number);
const linesIn = (value: unknown): string[] =>
  (typeof value === 'string' ? value : '')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
const factorIn = (line: string): [string, number] | null => {
  const [, name = '', price = ''] = /^(.+?)\s+(\d+(?:\.\d+)?)$/.exec(line) ?? [];
  return name === '' ? null : [name, Number(price)];
};
const numbers = new Set(
  usualFields.filter(({ kind }) => kind === 'number').map(({ name }) => name),
);

/** What of a form goes to the server: what was changed alone. */
const inputOf = (changed: Readonly<Record<string, unknown>>): Omit<In<'setModel'>, 'id'> =>
  Object.fromEntries(
    Object.entries(changed).map(([name, value]) => {
      if (name === 'factors')
        return [name, Object.fromEntries(linesIn(value).map((line) => factorIn(line) ?? ['', 0]))];
      if (name === 'size_rate') return [name, ratesIn(value)];
      if (typeof value === 'boolean') return [name, value ? 1 : 0];
      return [name, value ?? (numbers.has(name) ? null : '')];
    }),
  );

const ModelForm = ({
  model,
  owner,
  onSaved,
}: {
  model: AdminModel;
  owner: boolean;
  onSaved: () => void;
}) => (
  <Form
    fields={[
      // Everybody's replies pass through the accelerator: it is the owner's to choose.
      ...usualFields.filter(({ name }) => owner || name !== 'accelerator'),
      ...(model.image_choice === null ? [] : imageFields(model)),
    ]}
    initial={{
      label: model.label,
      remarks: model.remarks,
      factor: model.factor,
      prompt_factor: model.prompt_factor,
      cached_factor: model.cached_factor,
      written_factor: model.written_factor,
      sort: model.sort,
      max_prompt: model.max_prompt,
      max_tokens: model.max_tokens,
      api_max_tokens: model.api_max_tokens,
      color: model.color,
      logo: model.logo,
      accelerator: model.accelerator,
      sizes: model.image_choice?.sizes ?? [],
      checkpoints: model.image_choice?.checkpoints ?? [],
      factors: Object.entries(model.image_choice?.factors ?? {})
        .map((pair) => pair.join(' '))
        .join('\n'),
      size_rate: model.size_rate.join(' '),
      disable_api: model.disable_api === 1,
      display: model.display === 1,
      disable: model.disable === 1,
      vip_excluded: model.vip_excluded === 1,
      vip: model.vip === 1,
      private: model.private === 1,
      vision: model.vision === 1,
    }}
    onSubmit={async (_, changed) => {
      await api.setModel({ id: model.id, ...inputOf(changed) }, { quiet: true });
      toast('模型修改成功', 'success');
      onSaved();
    }}
  />
);

interface Search {
  page?: number | undefined;
  sort?: string | undefined;
  user_id?: number | undefined;
  name?: string | undefined;
  unique_key?: string | undefined;
  type?: string | undefined;
}

/** All models; a row leads to its prices, marks, limits and order. */
export const ManageModels = ({ search: { page = 1, sort, ...search } }: { search: Search }) => {
  const show = useTableSearch();
  const [open, setOpen] = useState<AdminModel>();
  const me = useMe();
  const models = useCall(
    'adminModelList',
    {
      ...search,
      ...sortInput('adminModelList', sort),
      type: search.type === undefined ? undefined : Number(search.type),
      page,
      page_size: 20,
    },
    keepLast,
  );
  return (
    <>
      <FilterBar
        filters={[
          { kind: 'text', name: 'name', label: '名称' },
          { kind: 'text', name: 'unique_key', label: '模型' },
          {
            kind: 'choice',
            name: 'type',
            options: Object.entries(typeNames).map(([value, label]) => ({ value, label })),
          },
        ]}
        values={search}
        onChange={show}
      />
      <DataTable
        name="模型"
        columns={columns}
        {...pageProps(models, page, show, ['adminModelList', sort])}
        rowKey={({ id }) => String(id)}
        empty={{ icon: 'spark', text: '没有符合的模型。' }}
        tone={(row) => (row.disable ? 'bad' : undefined)}
        onOpen={setOpen}
        renderChosen={(rows, keep) => (
          <ChosenActs
            rows={rows}
            nameOf={({ label }) => label}
            onDone={keep}
            acts={[
              {
                label: '显示',
                fits: (row) => !row.display,
                run: ({ id }, quiet) => api.setModel({ id, display: 1 }, quiet),
              },
              {
                label: '不显示',
                fits: (row) => row.display === 1,
                run: ({ id }, quiet) => api.setModel({ id, display: 0 }, quiet),
              },
              {
                label: '停用',
                danger: true,
                fits: (row) => !row.disable,
                sure: (count) => `停用选中的 ${count} 个模型？正在用它们的会话不能再问。`,
                run: ({ id }, quiet) => api.setModel({ id, disable: 1 }, quiet),
              },
              {
                label: '启用',
                fits: (row) => row.disable === 1,
                run: ({ id }, quiet) => api.setModel({ id, disable: 0 }, quiet),
              },
            ]}
          />
        )}
      />
      <Sheet
        open={open !== undefined}
        onClose={() => setOpen(undefined)}
        title={open?.label ?? ''}
        wide
      >
        {open && (
          <ModelForm
            key={open.id}
            model={open}
            owner={me.data?.owner === true}
            onSaved={() => setOpen(undefined)}
          />
        )}
      </Sheet>
    </>
  );
};
