import { bounds } from '#contract/bounds.ts';
import { useAct } from '#src/platform/use-act.ts';
import { useCall } from '#src/platform/call-query.ts';
import { ApiError, errorText } from '#src/platform/api-error.ts';
import { sendForm } from '#src/platform/send-form.ts';
import { toast } from '#src/platform/toast.ts';
import { Button, buttonClass } from '#src/ui/button.tsx';
import type { Field, FormValues } from '#src/ui/form/field.ts';
import { useFormDraft } from '#src/ui/form/form-draft.ts';
import { Form } from '#src/ui/form/form.tsx';
import { QueryFailed } from '#src/ui/load-failed.tsx';
import { Skeleton } from '#src/ui/skeleton.tsx';
import { Steps } from '#src/ui/steps/steps.tsx';
import { MarkdownField } from '#src/widgets/editor/markdown-field.tsx';
import type { Out } from '#contract/calls.ts';
import { marketLimits, marketTexts } from '#contract/market-limits.ts';
import { useState } from 'react';
import css from './manage-apps.module.css';

type Draft = Out<'appDraft'>;
type Pair = readonly [string, string];

const fields: readonly Field[] = [
  {
    name: 'title',
    label: '名称',
    kind: 'text',
    required: true,
    missing: marketTexts.title,
    max: bounds.app.title.max,
  },
  { name: 'type', kind: 'text', max: bounds.app.word.max, hint: '如：效率工具' },
  { name: 'source', kind: 'text', max: bounds.app.word.max, hint: '留空：官方' },
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
  {
    name: 'version',
    label: '版本号',
    kind: 'text',
    required: true,
    missing: marketTexts.version,
    max: bounds.app.version.max,
  },
  {
    name: 'version_desc',
    kind: 'long',
    required: true,
    missing: marketTexts.versionText,
    max: bounds.app.versionText.max,
  },
];

const pairsOf = (json: string): Pair[] => {
  const urls = JSON.parse(json) as string[];
  return Array.from({ length: Math.ceil(urls.length / 2) }, (_, at): Pair => [
    urls[at * 2] ?? '',
    urls[at * 2 + 1] ?? '',
  ]);
};

const ImageLink = ({
  label,
  url,
  onChange,
}: {
  label: string;
  url: string;
  onChange: (url: string) => void;
}) => {
  const { busy, run } = useAct((error) => toast(`上传失败：${errorText(error)}`, 'error'));
  const take = async (file: File | undefined) => {
    if (!file) return;
    await run(async () => onChange((await sendForm('adminUpload', {}, { file })).url));
  };
  return (
    <div className={css.link}>
      {url.startsWith('/files/') && <img src={`${url}?size=180`} alt="" />}
      <input
        className="text-input"
        aria-label={label}
        placeholder="https:// 开头的图片地址"
        inputMode="url"
        value={url}
        onChange={(event) => onChange(event.target.value)}
      />
      <label className={buttonClass()} aria-busy={busy || undefined}>
        {busy ? '上传中…' : '上传'}
        <input
          type="file"
          className="sr-only"
          accept="image/png,image/jpeg"
          aria-label={`上传${label}`}
          disabled={busy}
          onChange={(event) => {
            void take(event.target.files?.[0]);
            event.target.value = '';
          }}
        />
      </label>
    </div>
  );
};

/** Links to images: two are added and removed at once (document 3 §5). */
const ImagePairs = ({
  pairs,
  onChange,
}: {
  pairs: readonly Pair[];
  onChange: (pairs: Pair[]) => void;
}) => (
  <div className={css.part} role="group" aria-label="预览图">
    <h3>预览图（最多 {marketLimits.images} 张，两张一组）</h3>
    {pairs.map((pair, at) => (
      // Pairs have no names of their own.
      // oxlint-disable-next-line react/no-array-index-key
      <div key={at} className={css.pair}>
        {pair.map((url, side) => (
          <ImageLink
            // oxlint-disable-next-line react/no-array-index-key
            key={side}
            label={`预览图 ${at * 2 + side + 1}`}
            url={url}
            onChange={(next) =>
              onChange(
                pairs.map((each, index): Pair =>
                  index !== at ? each : side === 0 ? [next, each[1]] : [each[0], next],
                ),
              )
            }
          />
        ))}
        <Button
          size="small"
          kind="ghost"
          onClick={() => onChange(pairs.filter((_, index) => index !== at))}
        >
          去掉这一组
        </Button>
      </div>
    ))}
    {pairs.length * 2 < marketLimits.images && (
      <Button onClick={() => onChange([...pairs, ['', '']])}>添加一组预览图</Button>
    )}
  </div>
);

const FileChoice = ({
  label,
  accept,
  chosen,
  onChoose,
}: {
  label: string;
  accept?: string;
  /** What is said of it; empty: none was chosen. */
  chosen: string;
  onChoose: (file: File | null) => void;
}) => (
  <label className={`${css.part} ${css.file}`}>
    {label}
    <input
      type="file"
      accept={accept}
      onChange={(event) => onChoose(event.target.files?.[0] ?? null)}
    />
    {chosen !== '' && <small className="field-hint">{chosen}</small>}
  </label>
);

/** An app as it is sent: a draft may lack images that are still to come. */
const appOf = (values: FormValues, pairs: readonly Pair[], state: 'draft' | 'published') => {
  const text = (name: string) => String(values[name] ?? '');
  const urls = pairs.flat().filter((url) => state === 'published' || url.trim() !== '');
  return {
    title: text('title'),
    type: text('type'),
    source: text('source'),
    developer: text('developer'),
    price: Math.round(Number(values['price'] ?? 0) * 100),
    version: text('version'),
    version_desc: text('version_desc'),
    images_url: JSON.stringify(urls),
    md_description: text('md_description'),
    state,
  };
};

/** @param sent share of the files that is with the server */
const Sending = ({ failed, sent }: { failed: string; sent: number }) => (
  <>
    {failed && (
      <p className={css.failed} role="alert">
        {failed}
      </p>
    )}
    {sent > 0 && <progress className={css.progress} value={sent} aria-label="已上传" />}
  </>
);

const Publish = ({ draft, onDone }: { draft: Draft | null; onDone: () => void }) => {
  const [step, setStep] = useState(0);
  const kept = useFormDraft(
    `app.${draft?.id ?? 'new'}`,
    draft
      ? { ...draft, price: draft.price / 100 }
      : { price: 0, images_url: '[]', md_description: '' },
  );
  const { values } = kept;
  const beside = {
    images_url: String(values['images_url']),
    md_description: String(values['md_description']),
  };
  const pairs = pairsOf(beside.images_url);
  const text = beside.md_description;
  const [begun, setBegun] = useState(0);
  const [cover, setCover] = useState<File | null>(null);
  const [file, setFile] = useState<File | null>(null);
  const [sent, setSent] = useState(0);
  const [failed, setFailed] = useState('');
  const { busy, run } = useAct((error) => setFailed(errorText(error)));
  const fileName = file?.name ?? draft?.file_name ?? '';

  const send = async (state: 'draft' | 'published') => {
    const { message } = await sendForm(
      'saveApp',
      { ...(draft ? { id: draft.id } : {}), ...appOf(values, pairs, state) },
      { file, cover_image: cover },
      setSent,
    );
    kept.drop();
    toast(message, 'success');
    onDone();
  };
  const act = async (state: 'draft' | 'published') => {
    setFailed('');
    await run(() => send(state));
    setSent(0);
  };
  const sending = <Sending failed={failed} sent={sent} />;
  return (
    <div className={css.stack}>
      <Steps steps={['基本信息', '介绍']} current={step} />
      {kept.resumed && (
        <p className="field-hint">
          接着上次没有保存的内容，文件要再选一次。
          <Button
            size="small"
            kind="ghost"
            onClick={() => {
              kept.discard();
              setStep(0);
              setBegun(begun + 1);
            }}
          >
            放弃它
          </Button>
        </p>
      )}
      {step === 0 ? (
        <Form
          key={begun}
          fields={fields}
          initial={values}
          submit="下一步"
          onChange={(next) => kept.set({ ...next, ...beside })}
          onSubmit={async () => {
            if (pairs.flat().some((url) => url.trim() === ''))
              throw new ApiError(422, marketTexts.image, 422);
            if (fileName === '') throw new ApiError(422, '请选择应用文件', 422);
            setFailed('');
            setStep(1);
          }}
          renderExtra={() => (
            <Button busy={busy} onClick={() => void act('draft')}>
              存草稿
            </Button>
          )}
        >
          <ImagePairs
            pairs={pairs}
            onChange={(next) => kept.set({ ...values, images_url: JSON.stringify(next.flat()) })}
          />
          <FileChoice
            label="封面（一张）"
            accept="image/png,image/jpeg"
            chosen={cover?.name ?? (draft?.cover_image_url ? '已有封面，再选一张就换掉' : '')}
            onChoose={setCover}
          />
          <FileChoice label="应用文件（一个）" chosen={fileName} onChoose={setFile} />
          {sending}
        </Form>
      ) : (
        <>
          <MarkdownField
            label="介绍"
            value={text}
            max={bounds.app.description.max}
            onChange={(next) => kept.set({ ...values, md_description: next })}
          />
          {sending}
          <div className={css.end}>
            <Button onClick={() => setStep(0)}>上一步</Button>
            <Button busy={busy} onClick={() => void act('draft')}>
              存草稿
            </Button>
            <Button kind="primary" busy={busy} onClick={() => void act('published')}>
              发布
            </Button>
          </div>
        </>
      )}
    </div>
  );
};

/** Publishes an app in two steps, from a draft or from nothing. */
export const AppPublish = ({ id, onDone }: { id: number | undefined; onDone: () => void }) => {
  const draft = useCall(
    'appDraft',
    { id: id ?? 0 },
    { enabled: id !== undefined, gcTime: 0, staleTime: Infinity },
  );
  if (id !== undefined && !draft.data)
    return draft.isError ? <QueryFailed query={draft} /> : <Skeleton lines={8} />;
  return <Publish draft={draft.data ?? null} onDone={onDone} />;
};
