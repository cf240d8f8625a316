import { Chip } from '#src/ui/chip.tsx';
import { useAct } from '#src/platform/use-act.ts';
import { errorText } from '#src/platform/api-error.ts';
import { sendForm } from '#src/platform/send-form.ts';
import { toast } from '#src/platform/toast.ts';
import { Button } from '#src/ui/button.tsx';
import { Markdown } from '#src/widgets/markdown/markdown.tsx';
import { useRef, useState } from 'react';
import css from './markdown-field.module.css';

/** Markdown that a manager writes: as text, as it will look, with images uploaded into it. */
export const MarkdownField = ({
  label,
  value,
  max,
  rows = 12,
  onChange,
}: {
  label: string;
  value: string;
  /** Characters. */
  max: number;
  rows?: number;
  onChange: (text: string) => void;
}) => {
  const [preview, setPreview] = useState(false);
  const { busy, run } = useAct((error) => toast(`上传失败：${errorText(error)}`, 'error'));
  const writing = useRef<HTMLTextAreaElement>(null);
  const picking = useRef<HTMLInputElement>(null);
  const addImage = async (file: File | undefined) => {
    if (!file) return;
    await run(async () => {
      const { url } = await sendForm('adminUpload', {}, { file });
      const at = writing.current?.selectionStart ?? value.length;
      onChange(`${value.slice(0, at)}![图片](${url})${value.slice(at)}`);
    });
  };
  return (
    <div className={css.field}>
      <div className={css.tabs} role="group" aria-label="看什么">
        <Chip aria-pressed={!preview} onClick={() => setPreview(false)}>
          编辑
        </Chip>
        <Chip aria-pressed={preview} onClick={() => setPreview(true)}>
          预览
        </Chip>
        <Button
          size="small"
          kind="ghost"
          busy={busy}
          disabled={preview}
          onClick={() => picking.current?.click()}
        >
          插入图片
        </Button>
        <input
          ref={picking}
          type="file"
          accept="image/png,image/jpeg"
          aria-label="插入图片"
          hidden
          onChange={(event) => {
            void addImage(event.target.files?.[0]);
            event.target.value = '';
          }}
        />
      </div>
      {preview ? (
        <div className={css.preview}>
          <Markdown text={value || '（还没有内容）'} />
        </div>
      ) : (
        <textarea
          ref={writing}
          className="text-input"
          aria-label={label}
          rows={rows}
          maxLength={max}
          placeholder="用 Markdown 写"
          value={value}
          onChange={(event) => onChange(event.target.value)}
        />
      )}
    </div>
  );
};
