import { Tag } from '#src/ui/chip.tsx';
import { bounds } from '#contract/bounds.ts';
import { useAct } from '#src/platform/use-act.ts';
import { quietly } from '#src/platform/attempt.ts';
import { api } from '#src/platform/api.ts';
import { keepLast, useCall } from '#src/platform/call-query.ts';
import { ApiError, errorText } from '#src/platform/api-error.ts';
import { byteSize, dateTime } from '#src/platform/format.ts';
import { sendForm } from '#src/platform/send-form.ts';
import { toast } from '#src/platform/toast.ts';
import { Button } from '#src/ui/button.tsx';
import { confirmDelete } from '#src/ui/dialog.ts';
import { useFormDraft } from '#src/ui/form/form-draft.ts';
import { Form } from '#src/ui/form/form.tsx';
import { QueryFailed } from '#src/ui/load-failed.tsx';
import { Pager } from '#src/ui/pager/pager.tsx';
import { Skeleton } from '#src/ui/skeleton.tsx';
import { MarkdownField } from '#src/widgets/editor/markdown-field.tsx';
import type { Out } from '#contract/calls.ts';
import { marketLimits, marketTexts } from '#contract/market-limits.ts';
import type { UseQueryResult } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import css from './manage-apps.module.css';
import { Stars } from './stars.tsx';

const Loaded = <T,>({
  query,
  children,
}: {
  query: UseQueryResult<T>;
  children: (data: T) => ReactNode;
}) => {
  if (query.data !== undefined) return children(query.data);
  return query.isError ? <QueryFailed query={query} /> : <Skeleton lines={6} />;
};

const InfoForm = ({ info, onDone }: { info: Out<'appGeneralInfo'>; onDone: () => void }) => {
  const [rating, setRating] = useState(info.rating);
  return (
    <Form
      fields={[
        {
          name: 'title',
          label: '名称',
          kind: 'text',
          required: true,
          missing: marketTexts.title,
          max: bounds.app.title.max,
        },
        { name: 'type', kind: 'text', max: bounds.app.word.max },
        {
          name: 'source',
          kind: 'text',
          max: bounds.app.word.max,
          hint: '留空：官方',
        },
        { name: 'developer', kind: 'text', max: bounds.app.word.max },
        {
          name: 'price',
          kind: 'number',
          required: true,
          min: 0,
          max: bounds.app.price.max / 100,
          step: 0.01,
          unit: '元',
          hint: '0：免费',
        },
        { name: 'closeComment', kind: 'switch' },
      ]}
      initial={{ ...info, price: info.price / 100 }}
      onSubmit={async (_, { price, closeComment, ...words }) => {
        await api.saveAppGeneralInfo(
          {
            id: info.id,
            ...Object.fromEntries(
              Object.entries(words).map(([name, value]) => [name, String(value ?? '')]),
            ),
            ...(price === undefined ? {} : { price: Math.round(Number(price) * 100) }),
            ...(rating === info.rating ? {} : { rating }),
            ...(closeComment === undefined ? {} : { closeComment: closeComment === true }),
          },
          { quiet: true },
        );
        toast(marketTexts.saved, 'success');
        onDone();
      }}
    >
      <div className={css.part} role="group" aria-label="起始评分">
        <h3>起始评分</h3>
        <Stars value={rating} onChange={setRating} />
        <small className="field-hint">还没有人评分时显示</small>
      </div>
    </Form>
  );
};

/** What lists and the head of an app say of it. */
export const AppInfo = ({ id, onDone }: { id: number; onDone: () => void }) => {
  const info = useCall('appGeneralInfo', { id }, { gcTime: 0 });
  return <Loaded query={info}>{(data) => <InfoForm info={data} onDone={onDone} />}</Loaded>;
};

const DescriptionForm = ({
  id,
  initial,
  onDone,
}: {
  id: number;
  initial: string;
  onDone: () => void;
}) => {
  const kept = useFormDraft(`app-description.${id}`, { text: initial });
  const text = String(kept.values['text']);
  const [failed, setFailed] = useState('');
  const { busy, run } = useAct((error) => setFailed(errorText(error)));
  const save = async () => {
    setFailed('');
    await run(async () => {
      await api.saveAppDescription({ id, md_description: text }, { quiet: true });
      kept.drop();
      toast(marketTexts.saved, 'success');
      onDone();
    });
  };
  return (
    <div className={css.stack}>
      {kept.resumed && (
        <p className="field-hint">
          接着上次没有保存的内容。
          <Button size="small" kind="ghost" onClick={kept.discard}>
            放弃它
          </Button>
        </p>
      )}
      <MarkdownField
        label="介绍"
        value={text}
        max={bounds.app.description.max}
        onChange={(next) => kept.set({ text: next })}
      />
      {failed && (
        <p className={css.failed} role="alert">
          {failed}
        </p>
      )}
      <div className={css.end}>
        <Button kind="primary" busy={busy} onClick={() => void save()}>
          保存
        </Button>
      </div>
    </div>
  );
};

export const AppDescription = ({ id, onDone }: { id: number; onDone: () => void }) => {
  const description = useCall('appDescription', { id }, { gcTime: 0 });
  return (
    <Loaded query={description}>
      {({ md_description: text }) => <DescriptionForm id={id} initial={text} onDone={onDone} />}
    </Loaded>
  );
};

const NewVersion = ({ id, onDone }: { id: number; onDone: () => void }) => {
  const [file, setFile] = useState<File | null>(null);
  const [sent, setSent] = useState(0);
  return (
    <Form
      fields={[
        {
          name: 'version',
          label: '版本号',
          kind: 'text',
          required: true,
          missing: marketTexts.version,
          max: bounds.app.version.max,
        },
        {
          name: 'description',
          label: '版本描述',
          kind: 'long',
          required: true,
          missing: marketTexts.versionText,
          max: bounds.app.versionText.max,
        },
      ]}
      submit="添加版本"
      onSubmit={async ({ version, description }) => {
        if (!file) throw new ApiError(422, '请选择应用文件', 422);
        try {
          await sendForm(
            'addAppVersion',
            { id, version: String(version), description: String(description) },
            { file },
            setSent,
          );
        } finally {
          setSent(0);
        }
        toast(marketTexts.saved, 'success');
        onDone();
      }}
    >
      <label className={`${css.part} ${css.file}`}>
        应用文件（一个）
        <input type="file" onChange={(event) => setFile(event.target.files?.[0] ?? null)} />
        {sent > 0 && <progress className={css.progress} value={sent} aria-label="已上传" />}
      </label>
    </Form>
  );
};

export const AppVersions = ({ id }: { id: number }) => {
  const [page, setPage] = useState(1);
  const [adding, setAdding] = useState(false);
  const versions = useCall('appVersionList', { id, page }, keepLast);
  return (
    <Loaded query={versions}>
      {({ title, list: { list, count } }) => (
        <div className={css.stack}>
          <div className={css.head}>
            <small>
              {title} · {count} 个版本
            </small>
            <Button size="small" onClick={() => setAdding(!adding)}>
              {adding ? '取消' : '添加版本'}
            </Button>
          </div>
          {adding && <NewVersion id={id} onDone={() => setAdding(false)} />}
          <ul className={css.rows}>
            {list.map((each) => (
              <li key={each.id}>
                <div className={css.head}>
                  <strong>{each.version}</strong>
                  <small className="tabular">
                    {byteSize(each.code_size)} · {dateTime(each.created_at)}
                  </small>
                  {each.code_url !== '' && (
                    <a href={each.code_url} download={each.file_name}>
                      下载
                    </a>
                  )}
                </div>
                <p>{each.description}</p>
                <code>
                  {each.sha256 && `SHA-256 ${each.sha256}`}
                  {each.scanned && ' · 已查毒'}
                </code>
              </li>
            ))}
          </ul>
          <Pager page={page} count={Math.ceil(count / marketLimits.page)} onPage={setPage} />
        </div>
      )}
    </Loaded>
  );
};

export const AppComments = ({ id }: { id: number }) => {
  const [page, setPage] = useState(1);
  const comments = useCall('appCommentList', { id, page }, keepLast);
  const remove = async (commentId: number) => {
    const sure = await confirmDelete({ text: '删除这条评论？' });
    if (!sure) return;
    await api.delAppComment({ id: commentId });
    toast(marketTexts.deleted, 'success');
  };
  return (
    <Loaded query={comments}>
      {({ title, list: { list, count } }) => (
        <div className={css.stack}>
          <small className="field-hint">
            {title} · {count} 条评论{list.some(({ reports }) => reports > 0) && '，被举报的在前'}
          </small>
          {count === 0 && <p>还没有人评论。</p>}
          <ul className={css.rows}>
            {list.map((each) => (
              <li key={each.id}>
                <div className={css.head}>
                  <strong>{each.user_name}</strong>
                  <small className="tabular">
                    ★ {each.rating.toFixed(1)} · {each.version && `${each.version} · `}
                    {dateTime(each.created_at)}
                  </small>
                  {each.reports > 0 && <Tag kind="vip">{each.reports} 次举报</Tag>}
                  <Button size="small" kind="danger" onClick={() => quietly(remove(each.id))}>
                    删除
                  </Button>
                </div>
                <p>{each.comment_content}</p>
              </li>
            ))}
          </ul>
          <Pager
            page={page}
            count={Math.ceil(count / marketLimits.page)}
            isCounted={list.length === 0}
            onPage={setPage}
          />
        </div>
      )}
    </Loaded>
  );
};
