import { draftWithSettings, requestOf } from '#src/widgets/image/image-draft.ts';
import { copyText } from '#src/platform/copy.ts';
import { useSettings } from '#src/platform/queries.ts';
import { Button } from '#src/ui/button.tsx';
import { Icon } from '#src/ui/icon.tsx';
import { SwitchField } from '#src/ui/switch-field.tsx';
import { previewPrompt, needsTranslation } from '#contract/image-prompt.ts';
import { limits } from '#contract/limits.ts';
import { useId, useState } from 'react';
import { useTranslates } from '#src/widgets/image/translation-price.ts';
import { PromptSheet } from '#src/widgets/template/prompt-sheet.tsx';
import { useTool } from './tool-context.ts';
import css from './image-tool.module.css';

/** What will be sent, put together from the words and all that was chosen. */
const Preview = () => {
  const { words, image, draft, parameters } = useTool();
  const preview = previewPrompt(
    { ...words, baseImage: words.baseImage || (draft.base_image ?? '') },
    image.family,
    parameters,
  );
  return (
    <section className={css.toolSection} aria-label="将会发送">
      <div className={css.toolLine}>
        <h3>将会发送</h3>
        <Button
          kind="ghost"
          size="icon"
          aria-label="复制将会发送的内容"
          disabled={preview === ''}
          onClick={() => void copyText(preview)}
        >
          <Icon name="copy" />
        </Button>
      </div>
      <p className={css.toolPreview} data-empty={words.prompt === '' || undefined}>
        {words.prompt === '' ? '写下描述以后，这里是模型真正收到的内容' : preview}
      </p>
    </section>
  );
};

const Area = ({
  label,
  hint,
  value,
  placeholder,
  maxLength,
  rows,
  onChange,
}: {
  label: string;
  hint?: string;
  value: string;
  placeholder: string;
  maxLength?: number;
  rows: number;
  onChange: (text: string) => void;
}) => {
  const id = useId();
  return (
    <div className="field">
      <div className="field-head">
        <label htmlFor={id}>{label}</label>
        {value.length > 0 && <output htmlFor={id}>{value.length} 字</output>}
      </div>
      {hint && <p className="field-hint">{hint}</p>}
      <textarea
        id={id}
        className="text-input"
        rows={rows}
        value={value}
        maxLength={maxLength}
        placeholder={placeholder}
        onChange={(event) => onChange(event.target.value)}
      />
    </div>
  );
};

export const PromptTab = () => {
  const { text, setText, image, model, words, draft, change, parameters, setParameters } =
    useTool();
  const [choosing, setChoosing] = useState(false);
  const translates = useTranslates();
  const midjourney = image.family === 'midjourney';
  const request = requestOf(draftWithSettings(draft, useSettings()), model);
  return (
    <>
      <Area
        label="画面描述"
        value={text}
        rows={4}
        maxLength={model.max_prompt ?? limits.defaultMaxPrompt}
        placeholder="雨后江南，水墨风格，一只喜鹊"
        onChange={setText}
      />
      <p>
        <Button size="small" aria-haspopup="dialog" onClick={() => setChoosing(true)}>
          <Icon name="document" size={16} />
          提示词模板
        </Button>
      </p>
      <PromptSheet
        open={choosing}
        type={1}
        model={model.name}
        onClose={() => setChoosing(false)}
        onChoose={(chosen) => setText(text.trim() === '' ? chosen : `${text}，${chosen}`)}
      />
      {midjourney && (
        <Area
          label="不要出现"
          value={parameters.no ?? ''}
          rows={1}
          maxLength={500}
          placeholder="例如：文字，汽车"
          onChange={(no) => setParameters({ no: no || undefined })}
        />
      )}
      {image.abilities.includes('negative-prompt') && (
        <Area
          label="不要出现"
          value={parameters.negative_prompt ?? ''}
          rows={2}
          maxLength={2000}
          placeholder="例如：模糊，文字，多余的手指"
          onChange={(negative) => setParameters({ negative_prompt: negative || undefined })}
        />
      )}
      {image.family !== 'built-in' && translates && (
        <SwitchField
          label="画之前译成英文"
          hint={
            needsTranslation(words.prompt) || words.prompt === ''
              ? '这类模型更懂英文'
              : '描述里几乎没有中文，不需要翻译'
          }
          checked={request.translate === 1}
          onChange={(on) => change({ translate: on ? 1 : 0 })}
        />
      )}
      <Preview />
    </>
  );
};
