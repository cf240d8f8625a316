import { listProps } from '#src/ui/table/page-props.ts';
import { momentColumn } from '#src/ui/table/columns.ts';
import { api } from '#src/platform/api.ts';
import { keepLast, useCall } from '#src/platform/call-query.ts';
import { quietly } from '#src/platform/attempt.ts';
import { Button } from '#src/ui/button.tsx';
import type { Field } from '#src/ui/form/field.ts';
import { SettingsForm } from '#src/ui/form/settings-form.tsx';
import { DataTable, type Column } from '#src/ui/table/data-table.tsx';
import type { Out } from '#contract/calls.ts';
import { useState } from 'react';
import css from './compliance.module.css';

type State = Out<'safetyState'>;
type Case = Out<'safetyCaseList'>['list'][number];

const services: readonly { value: string; label: string }[] = [
  { value: '', label: '不用' },
  { value: 'aliyun', label: '阿里云' },
  { value: 'tencent', label: '腾讯云' },
  { value: 'netease', label: '网易易盾' },
];
const serviceNames = new Map(services.map(({ value, label }) => [value, label]));
const whoChecks = (by: string): string =>
  by === 'words' ? '屏蔽词' : (serviceNames.get(by) ?? by.replace(/^model /, '模型 '));

const choices = (pass: string) => [
  { value: 'pass', label: pass },
  { value: 'refuse', label: '拒绝' },
];
const byService: Pick<Field, 'when'> = { when: ({ service }) => (service ?? '') !== '' };
const fields: readonly Field[] = [
  { name: 'text_in', label: '检查提问与提示词', kind: 'switch', hint: '没有通过的不交给模型' },
  {
    name: 'text_out',
    label: '检查回复',
    kind: 'switch',
    hint: '边写边查，查过的才显示；没有通过的停在那里，没有显示的不计费',
  },
  { name: 'words', label: '用屏蔽词检查', kind: 'switch', hint: '社区的屏蔽词，不费时间' },
  { name: 'service', label: '外面的检查服务', kind: 'choice', options: services },
  {
    name: 'key_id',
    label: '密钥编号',
    kind: 'text',
    max: 200,
    hint: 'AccessKeyId、SecretId',
    ...byService,
  },
  {
    name: 'secret',
    label: '密钥',
    kind: 'password',
    max: 500,
    hint: '存起来时加密，只写不读；空着是不改',
    ...byService,
  },
  {
    name: 'business',
    label: '业务编号',
    kind: 'text',
    max: 100,
    hint: '易盾的 businessId、腾讯云的 BizType、阿里云的 Service；阿里云、腾讯云可以不填',
    ...byService,
  },
  {
    name: 'business_pictures',
    label: '图片的业务编号',
    kind: 'text',
    max: 100,
    hint: '空着：阿里云用 baselineCheck，别的和上面一样',
    ...byService,
  },
  {
    name: 'address',
    label: '服务的地址',
    kind: 'text',
    max: 300,
    hint: '空着是公网的那个',
    ...byService,
  },
  {
    name: 'pictures',
    label: '检查画好的图片',
    kind: 'switch',
    hint: '没有通过的不保存、不扣费',
    ...byService,
  },
  {
    name: 'pictures_in',
    label: '检查上传的图片',
    kind: 'switch',
    hint: '提问、参考图、头像、帖子里的；没有通过的不保存，上传会慢一些',
    ...byService,
  },
  {
    name: 'judge',
    label: '让一个模型判断',
    kind: 'text',
    max: 100,
    hint: '模型的名字；由本站付费，每约 160 字问一次，回复会慢一些',
  },
  { name: 'doubtful', label: '拿不准的', kind: 'choice', options: choices('放行，交给人看') },
  { name: 'unchecked', label: '服务不答时', kind: 'choice', options: choices('放行') },
];

const dayColumns: readonly Column<State['days'][number]>[] = [
  { key: 'day', title: '日期', value: (row) => row.day, role: 'title' },
  { key: 'by', title: '由谁', value: (row) => whoChecks(row.by) },
  { key: 'checks', title: '次数', value: (row) => row.checks, align: 'end', sortable: true },
  {
    key: 'characters',
    title: '字数',
    value: (row) => row.characters,
    align: 'end',
    sortable: true,
  },
  { key: 'reviews', title: '要人看', value: (row) => row.reviews, align: 'end', sortable: true },
  { key: 'refusals', title: '拒绝', value: (row) => row.refusals, align: 'end', sortable: true },
  { key: 'failures', title: '没查成', value: (row) => row.failures, align: 'end', sortable: true },
  {
    key: 'mean_ms',
    title: '平均用时',
    value: (row) => row.mean_ms,
    render: (row) => `${row.mean_ms < 10 ? row.mean_ms.toFixed(2) : Math.round(row.mean_ms)} 毫秒`,
    align: 'end',
    sortable: true,
  },
];

const stateNames = { open: '等人看', allowed: '没有问题', confirmed: '确认违规' } as const;
const wayNames = { in: '提问', out: '回复' } as const;
const pictureNames = { in: '上传的图', out: '画的图' } as const;
/** Complaints are to be answered within so many hours. */
const answerHours = 24;
const waited = (at: string): string => {
  const hours = Math.floor((Date.now() - Date.parse(at)) / 3_600_000);
  return hours >= answerHours
    ? `已等 ${hours} 小时，超过 ${answerHours} 小时`
    : `已等 ${hours} 小时`;
};

const excerptOf = ({ excerpt, kind }: Case): string =>
  excerpt || (kind === 'picture' ? '（图片）' : '（没有留下）');

/** Of whom, or from where, alone. */
type Whose = { user_id: number; name: string } | { ip: string };

const caseColumns = (look: (whose: Whose) => void): readonly Column<Case>[] => [
  {
    key: 'excerpt',
    title: '内容',
    value: excerptOf,
    render: (row) => <span className={css.words}>{excerptOf(row)}</span>,
    role: 'title',
    wide: true,
  },
  {
    key: 'who',
    title: '谁',
    value: (row) => `${row.user_name}（${row.user_id}），30 天内 ${row.times} 次`,
    render: (row) => (
      <Button
        kind="ghost"
        size="small"
        className={css.look}
        onClick={() => look({ user_id: row.user_id, name: row.user_name })}
      >
        {row.user_name}（{row.user_id}），30 天内 {row.times} 次
      </Button>
    ),
  },
  {
    key: 'ip',
    title: '地址',
    value: (row) => row.ip,
    render: (row) =>
      row.ip === '' ? (
        '没有记录'
      ) : (
        <Button kind="ghost" size="small" className={css.look} onClick={() => look({ ip: row.ip })}>
          {row.ip}，30 天内 {row.ip_times} 次
        </Button>
      ),
  },
  {
    key: 'way',
    title: '来自',
    value: (row) => (row.kind === 'picture' ? pictureNames[row.way] : wayNames[row.way]),
  },
  {
    key: 'by',
    title: '由谁查出',
    value: (row) => `${whoChecks(row.by)}：${row.reason || '没有说原因'}`,
  },
  momentColumn('created_at', '时间'),
  {
    key: 'appeal',
    title: '申诉',
    value: (row) => row.appeal,
    render: (row) =>
      row.appealed_at ? (
        <span className={css.words}>
          {row.appeal}（{waited(row.appealed_at)}）
        </span>
      ) : (
        '—'
      ),
    wide: true,
    sortable: true,
  },
  {
    key: 'acts',
    title: '处理',
    role: 'bare',
    value: () => null,
    render: (row) =>
      row.state !== 'open' ? (
        stateNames[row.state]
      ) : (
        <span className={css.acts}>
          <Button
            size="small"
            onClick={() => quietly(api.decideSafetyCase({ id: row.id, state: 'allowed' }))}
          >
            没有问题
          </Button>
          <Button
            size="small"
            onClick={() => quietly(api.decideSafetyCase({ id: row.id, state: 'confirmed' }))}
          >
            确认违规
          </Button>
        </span>
      ),
  },
];

/** How texts and pictures are checked, what came of it, and what waits for somebody to look. */
export const ManageSafety = () => {
  const [page, setPage] = useState(1);
  const { data } = useCall('safetyState', {});
  // Of one person or address all is shown: what was decided, too.
  const [whose, setWhose] = useState<Whose>();
  const look = (next: Whose | undefined) => {
    setWhose(next);
    setPage(1);
  };
  const only = !whose
    ? { open: 1 as const }
    : 'ip' in whose
      ? { open: 0 as const, ip: whose.ip }
      : { open: 0 as const, user_id: whose.user_id };
  const cases = useCall('safetyCaseList', { page, ...only }, keepLast);
  const title = !whose ? '等人看的' : `${'ip' in whose ? whose.ip : whose.name} 的记录`;
  if (!data) return null;
  return (
    <section className={`card ${css.part}`}>
      <h2>内容安全</h2>
      <p>网页与 /v1 的对话、画图在这里检查。什么都不打开时，一切照旧。</p>
      <SettingsForm
        settings={data.settings}
        fields={fields}
        save={(change) => api.saveSafety(change, { quiet: true })}
      />
      {data.days.length > 0 && (
        <DataTable
          name="检查的次数与用时"
          columns={dayColumns}
          rows={data.days}
          rowKey={({ day, by }) => `${day} ${by}`}
          empty={{ icon: 'check', text: '还没有检查过。' }}
          tools={false}
        />
      )}
      <h3>{title}</h3>
      {whose && (
        <Button size="small" className={css.back} onClick={() => look(undefined)}>
          回到等人看的
        </Button>
      )}
      <DataTable
        name={title}
        columns={caseColumns(look)}
        {...listProps(cases)}
        rowKey={({ id }) => String(id)}
        empty={{ icon: 'check', text: '没有等人看的。' }}
        tools={false}
        total={cases.data?.total}
        page={page}
        pageCount={cases.data?.page_count}
        onPage={setPage}
      />
    </section>
  );
};
