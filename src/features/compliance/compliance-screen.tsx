import { listProps } from '#src/ui/table/page-props.ts';
import { momentColumn } from '#src/ui/table/columns.ts';
import { api } from '#src/platform/api.ts';
import { keepLast, useCall } from '#src/platform/call-query.ts';
import { dateTime } from '#src/platform/format.ts';
import { useMe } from '#src/platform/queries.ts';
import { refreshSite } from '#src/platform/site.ts';
import { ButtonLink } from '#src/ui/button.tsx';
import { Tag } from '#src/ui/chip.tsx';
import { Form } from '#src/ui/form/form.tsx';
import type { Field } from '#src/ui/form/field.ts';
import { SettingsForm } from '#src/ui/form/settings-form.tsx';
import { QueryFailed } from '#src/ui/load-failed.tsx';
import { ManagePage } from '#src/ui/manage-page.tsx';
import { Skeleton } from '#src/ui/skeleton.tsx';
import { DataTable, type Column } from '#src/ui/table/data-table.tsx';
import type { Out } from '#contract/calls.ts';
import { useState } from 'react';
import { ManageAgreements } from './manage-agreements.tsx';
import { ExportRecords } from './export-records.tsx';
import { ManageSafety } from './manage-safety.tsx';
import css from './compliance.module.css';

type State = Out<'complianceState'>;
type Found = Out<'findLabel'>;

const codeHint = '按《服务提供者编码规则》：001、类别、统一社会信用代码、5 位服务码';
const fields: readonly Field[] = [
  { name: 'producer_code', kind: 'text', max: 64, hint: codeHint },
  { name: 'propagator_code', kind: 'text', max: 64, hint: '通常与生成者相同' },
  {
    name: 'mark_text',
    kind: 'switch',
    hint: '复制、导出、分享的文字带上“由人工智能生成”',
  },
  { name: 'mark_images', kind: 'switch', hint: '保存、分享的图片在右下角写上“由人工智能生成”' },
  { name: 'mark_sound', kind: 'switch', hint: '朗读先念“由人工智能生成”，不另收费' },
  {
    name: 'mark_films',
    kind: 'switch',
    hint: '视频在开头两秒的右下角写上“由人工智能生成”；外面的服务做的为此重新编码，画不了的写在封面上',
  },
  {
    name: 'allow_unmarked',
    kind: 'switch',
    hint: '登录的人同意自己标明之后可以；谁、何时、哪一张记下六个月',
  },
  {
    name: 'mark_api',
    kind: 'switch',
    hint: '/v1 的回答末尾、做的图片的角上、声音的开头写明或说出，JSON 的回答除外；打开之后，按文档写的程序会得到这样的结果',
  },
  {
    name: 'ask_agreements',
    kind: 'switch',
    hint: '注册要勾选下面写好的协议，改了会再问；打开之后，只照文档写的程序不能注册',
  },
  {
    name: 'minors',
    kind: 'switch',
    hint: '账户的“安全”里可以凭监护人的密码打开：时段、每天的分钟数、不能付款、不能和陌生人来往、检查更严',
  },
  {
    name: 'record_months',
    kind: 'number',
    min: 0,
    max: 60,
    required: true,
    unit: '个月',
    hint: '谁、何时、从哪个地址和端口登录、发布、生成、改了什么，到期自己删去；0 是不保留',
  },
  {
    name: 'show_third_parties',
    kind: 'switch',
    hint: '数据会交给谁、做什么用：按接上的渠道、内容安全、短信与邮件自己列出来，放在帮助和隐私政策下面',
  },
  { name: 'operator', kind: 'text', max: 100, placeholder: '例如：某某科技有限公司' },
  { name: 'report', kind: 'text', max: 200, hint: '邮箱、网址或电话' },
  { name: 'icp', kind: 'text', max: 100, placeholder: '京ICP备12345678号-1' },
  { name: 'police', kind: 'text', max: 100, placeholder: '京公网安备11010802012345号' },
  { name: 'algorithm', kind: 'text', max: 100 },
  { name: 'model_record', kind: 'text', max: 100 },
  {
    name: 'c2pa_chain',
    kind: 'long',
    lines: 3,
    max: 20_000,
    mono: true,
    placeholder: '-----BEGIN CERTIFICATE-----',
    hint: '填了之后，做出来的图片、MP4、声音、PDF 里有一份 C2PA 签名，别人看得出有没有改过；PEM，签名的那一张在最前，后面是签发它的',
  },
  {
    name: 'c2pa_key',
    kind: 'password',
    max: 10_000,
    hint: '第一张证书的私钥（PEM，EC 或 Ed25519）；存起来时加密，只写不读，空着是不改',
    when: ({ c2pa_chain }) => String(c2pa_chain ?? '') !== '',
  },
];

/** What is met of the rules and what is missing. */
const Checks = ({ checks }: { checks: State['checks'] }) => (
  <ul className={css.checks}>
    {checks.map(({ key, title, ok, hint }) => (
      <li key={key}>
        <Tag kind={ok ? 'free' : undefined}>{ok ? '已有' : '还缺'}</Tag>
        <span>
          <strong>{title}</strong>
          {hint !== '' && <small>{hint}</small>}
        </span>
      </li>
    ))}
  </ul>
);

const kinds: Readonly<Record<string, string>> = {
  image: '图片',
  video: '视频',
  speech: '朗读',
  export: '导出的对话',
  translation: '译文',
};

/** Whose a label is, for whoever may ask. */
const FindLabel = () => {
  const [found, setFound] = useState<Found>();
  return (
    <section className={`card ${css.part}`}>
      <h2>查一个标识</h2>
      <p>文件里不写任何人的信息，只写一个编号；它是谁、何时、用哪个模型做的，只有这里查得到。</p>
      <Form
        fields={[
          {
            name: 'label',
            label: 'ProduceID，或整个 AIGC 字段',
            kind: 'long',
            lines: 2,
            max: 4096,
            required: true,
          },
        ]}
        submit="查"
        onSubmit={async ({ label }) => {
          setFound(undefined);
          setFound(await api.findLabel({ label: String(label ?? '').trim() }, { quiet: true }));
        }}
      />
      {found && (
        <dl className={css.found}>
          <dt>内容</dt>
          <dd>{kinds[found.kind] ?? found.kind}</dd>
          <dt>时间</dt>
          <dd>{dateTime(found.created_at)}</dd>
          <dt>模型</dt>
          <dd>{found.model || '没有记下'}</dd>
          <dt>谁</dt>
          <dd>
            {found.user_id === null
              ? '没有登录的人，或账号已注销'
              : `${found.user_name}（${found.user_id}）`}
          </dd>
        </dl>
      )}
    </section>
  );
};

type Taken = Out<'unmarkedList'>['list'][number];
const takenColumns: readonly Column<Taken>[] = [
  {
    key: 'user_name',
    title: '谁',
    value: (row) => `${row.user_name}（${row.user_id}）`,
    role: 'title',
    wide: true,
  },
  momentColumn('created_at', '时间'),
  { key: 'url', title: '图片', value: (row) => row.url },
];

/** Who took images without the words, for as long as that is kept. */
const Unmarked = () => {
  const [page, setPage] = useState(1);
  const taken = useCall('unmarkedList', { page }, keepLast);
  return (
    <section className={`card ${css.part}`}>
      <h2>没有标识的下载</h2>
      <p>同意自己标明之后下载的，保留六个月。</p>
      <DataTable
        name="没有标识的下载"
        columns={takenColumns}
        {...listProps(taken)}
        rowKey={({ user_id: id, url }) => `${id} ${url}`}
        empty={{ icon: 'download', text: '还没有人这样下载。' }}
        tools={false}
        total={taken.data?.total}
        page={page}
        pageCount={taken.data?.page_count}
        onPage={setPage}
      />
    </section>
  );
};

/** What the law asks of whoever runs this: labels, numbers of records, and what is missing. */
export const ComplianceScreen = () => {
  const state = useCall('complianceState', {});
  const me = useMe();
  const { data } = state;
  if (state.isError && !data) return <QueryFailed query={state} />;
  return (
    <ManagePage
      title="合规"
      acts={
        <ButtonLink size="small" to="/help" search={{ page: 'compliance' }}>
          说明
        </ButtonLink>
      }
    >
      {!data && <Skeleton lines={8} />}
      {data && (
        <>
          <section className={`card ${css.part}`}>
            <h2>还缺什么</h2>
            <p>这里只说设置了什么，不是法律意见；要不要、怎样办理，以主管部门的要求为准。</p>
            <Checks checks={data.checks} />
          </section>
          <section className={`card ${css.part}`}>
            <h2>设置</h2>
            <SettingsForm
              settings={data.settings}
              fields={fields}
              save={async (change) => {
                await api.saveCompliance(change, { quiet: true });
                await refreshSite();
              }}
            />
          </section>
          <ManageSafety />
          <ManageAgreements />
          <FindLabel />
          <Unmarked />
          {me.data?.owner && <ExportRecords />}
        </>
      )}
    </ManagePage>
  );
};
