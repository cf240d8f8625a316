import { authStore } from '#src/platform/auth-store.ts';
import { Chip } from '#src/ui/chip.tsx';
import { thumbnailOf } from '#src/platform/question.ts';
import { Icon } from '#src/ui/icon.tsx';
import { PhotoViewer } from '#src/ui/photo-viewer.tsx';
import { limits } from '#contract/limits.ts';
import { useEffect, useState } from 'react';
import {
  imagesOf,
  setAttachments,
  useAttachments,
  type Attachment,
  type Detail,
} from '#src/platform/attach/attach-store.ts';
import type { AttachTarget } from '#src/platform/attach/attach-store.ts';
import {
  imagesToWords,
  removeAttachment,
  resumeAttachments,
  retryAttachment,
} from '#src/platform/attach/intake.ts';
import css from './attach-parts.module.css';
import { useVisionChoice } from './vision-choice.tsx';

const sizeText = (bytes: number): string => {
  if (bytes >= 1024 * 1024) return `${(bytes / (1024 * 1024)).toFixed(1)} MB`;
  return bytes >= 1024 ? `${Math.round(bytes / 1024)} KB` : `${bytes} B`;
};

/** What a file waits for: the line, the account that a first session makes, or its next try. */
const waitingText = (): string => {
  if (!navigator.onLine) return '联网后上传';
  return authStore.get().token === '' ? '发送时上传' : '即将上传';
};

const stateText = (item: Attachment): string => {
  switch (item.state) {
    case 'preparing':
      return '正在处理';
    case 'waiting':
      return waitingText();
    case 'uploading':
      return item.progress > 0 ? `${Math.floor(item.progress * 100)}%` : '正在上传';
    case 'failed':
      return `上传失败：${item.error}`;
    default:
      return '';
  }
};

const Remove = ({ label, onClick }: { label: string; onClick: () => void }) => (
  <button type="button" className={css.trayRemove} aria-label={label} onClick={onClick}>
    <Icon name="close" size={14} />
  </button>
);

const imageOf = (item: Attachment, small: boolean): string =>
  item.preview || (small ? thumbnailOf(item.url, 128) : item.url);

const details: readonly { value: Detail; label: string }[] = [
  { value: 'low', label: '普通' },
  { value: 'high', label: '高清' },
];

/** What goes with the next message: images, files, how far they are, and what they cost. */
const AttachTray = ({ target }: { target: AttachTarget }) => {
  const { draftKey } = target;
  const { items, detail } = useAttachments(draftKey);
  const [viewing, setViewing] = useState<number | null>(null);
  const images = imagesOf({ items });
  useEffect(() => void resumeAttachments(draftKey), [draftKey]);
  const files = items.filter((item) => item.kind === 'file');
  const failed = items.filter((item) => item.state === 'failed');
  const dropImages = () => {
    for (const { id } of images) removeAttachment(draftKey, id);
  };
  const vision = useVisionChoice(
    target,
    <>
      <Chip onClick={() => void imagesToWords(draftKey)}>认出图上的文字</Chip>
      <Chip onClick={dropImages}>去掉图片</Chip>
    </>,
  );
  const shown = images.filter((item) => imageOf(item, false) !== '');
  return (
    <div className={css.tray}>
      <ul className={css.trayItems} aria-label="要发送的附件">
        {images.map((item, at) => (
          <li key={item.id} className={css.trayImage} data-state={item.state}>
            <button
              type="button"
              className={css.trayView}
              aria-label={`查看图片 ${at + 1}：${item.name}`}
              disabled={!shown.includes(item)}
              onClick={() => setViewing(shown.indexOf(item))}
            >
              {imageOf(item, true) !== '' && <img src={imageOf(item, true)} alt="" />}
              {item.state !== 'ready' && (
                <span className={css.trayVeil}>
                  {item.state === 'failed' ? '失败' : stateText(item)}
                </span>
              )}
            </button>
            {item.state === 'uploading' && (
              <progress
                className={css.trayProgress}
                max={1}
                value={item.progress > 0 ? item.progress : undefined}
                aria-label={`图片 ${at + 1} 的上传进度`}
              />
            )}
            <Remove
              label={`去掉图片 ${at + 1}`}
              onClick={() => removeAttachment(draftKey, item.id)}
            />
          </li>
        ))}
        {files.map((item) => (
          <li key={item.id} className={css.trayFile} data-state={item.state}>
            <span className={css.trayFileWords}>
              <span className={css.trayFileName}>{item.name}</span>
              <small>
                {item.state === 'ready'
                  ? `${sizeText(item.size)} · ${item.cut ? `文字太长，只取前 ${item.chars} 字` : `${item.chars} 字`}`
                  : item.state === 'failed'
                    ? '失败'
                    : `${sizeText(item.size)} · ${stateText(item)}`}
              </small>
            </span>
            <Remove
              label={`去掉文件 ${item.name}`}
              onClick={() => removeAttachment(draftKey, item.id)}
            />
          </li>
        ))}
      </ul>
      {failed.map((item) => (
        <p key={item.id} className={css.trayFailed} role="alert">
          <span>{stateText(item)}</span>
          {!item.refused && (
            <button
              type="button"
              className={css.trayRetry}
              onClick={() => retryAttachment(item.id)}
            >
              重试
            </button>
          )}
        </p>
      ))}
      {images.length > 0 && vision.notice}
      {images.length > 0 && !vision.blind && target.model && (
        <div className={css.trayDetail} role="radiogroup" aria-label="图片的清晰度">
          {details.map(({ value, label }) => (
            <button
              key={value}
              type="button"
              role="radio"
              aria-checked={detail === value}
              onClick={() => setAttachments(draftKey, { detail: value })}
            >
              {label}
              <small>每张 {limits.imageTokens[value]} tokens</small>
            </button>
          ))}
        </div>
      )}
      {viewing !== null && (
        <PhotoViewer
          images={shown.map((item) => imageOf(item, false))}
          index={viewing}
          onClose={() => setViewing(null)}
        />
      )}
    </div>
  );
};

export default AttachTray;
