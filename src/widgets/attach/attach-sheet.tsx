import { useAttachments, imagesOf } from '#src/platform/attach/attach-store.ts';
import { addAddress, addFiles } from '#src/platform/attach/intake.ts';
import { imageTypes, readableTypes } from '#src/platform/attach/file-kinds.ts';
import { useVisionChoice } from './vision-choice.tsx';
import type { AttachTarget } from '#src/platform/attach/attach-store.ts';
import { Button } from '#src/ui/button.tsx';
import { PathIcon } from '#src/ui/icon.tsx';
import { Sheet } from '#src/ui/sheet.tsx';
import { useMedia } from '#src/platform/use-media.ts';
import { limits } from '#contract/limits.ts';
import { useRef, useState, type FormEvent, type ReactNode, type Ref } from 'react';
import { ServerResources } from '#src/widgets/tool/server-things.tsx';
import css from './attach-parts.module.css';

const icons = {
  album:
    'M5 4.5h14A1.5 1.5 0 0 1 20.5 6v12a1.5 1.5 0 0 1-1.5 1.5H5A1.5 1.5 0 0 1 3.5 18V6A1.5 1.5 0 0 1 5 4.5ZM8.5 10.5a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3ZM4 17l5-5 3.5 3.5L16 12l4.5 4.5',
  camera:
    'M4.5 7.5H8l1.5-2.5h5L16 7.5h3.5A1.5 1.5 0 0 1 21 9v9a1.5 1.5 0 0 1-1.5 1.5h-15A1.5 1.5 0 0 1 3 18V9a1.5 1.5 0 0 1 1.5-1.5ZM12 17a3.8 3.8 0 1 0 0-7.6 3.8 3.8 0 0 0 0 7.6Z',
  file: 'M7 3.5h7l4.5 4.5v11A1.5 1.5 0 0 1 17 20.5H7A1.5 1.5 0 0 1 5.5 19V5A1.5 1.5 0 0 1 7 3.5ZM13.5 3.5V8.5h5M9 13h6M9 16.5h6',
  link: 'M10 14a4 4 0 0 0 6 .4l3-3a4 4 0 0 0-5.7-5.7l-1.2 1.2M14 10a4 4 0 0 0-6-.4l-3 3a4 4 0 0 0 5.7 5.7l1.2-1.2',
};

const isAddress = (text: string): boolean => {
  try {
    return /^https?:$/.test(new URL(text).protocol);
  } catch {
    return false;
  }
};

const Choice = ({
  ref,
  accept,
  label,
  camera = false,
  onTake,
}: {
  ref: Ref<HTMLInputElement>;
  accept: string;
  label: string;
  camera?: boolean;
  onTake: (files: File[]) => void;
}) => (
  <input
    ref={ref}
    type="file"
    hidden
    accept={accept}
    aria-label={label}
    multiple={!camera}
    capture={camera ? 'environment' : undefined}
    onChange={(event) => {
      const chosen = [...(event.target.files ?? [])];
      // The same file can be chosen again.
      event.target.value = '';
      onTake(chosen);
    }}
  />
);

const Way = ({
  icon,
  label,
  off,
  onClick,
}: {
  icon: keyof typeof icons;
  label: string;
  off: boolean;
  onClick: () => void;
}) => (
  <li>
    <button type="button" className={css.attachWay} disabled={off} onClick={onClick}>
      <span className={css.attachWayIcon}>
        <PathIcon path={icons[icon]} size={26} />
      </span>
      {label}
    </button>
  </li>
);

/** The ways to add something: album, camera, file, address. */
const AttachSheet = ({
  target,
  open,
  onClose,
  children,
}: {
  target: AttachTarget;
  open: boolean;
  onClose: () => void;
  /** What else is offered here. */
  children?: ReactNode;
}) => {
  const touch = useMedia('(pointer: coarse)');
  const { items } = useAttachments(target.draftKey);
  const images = imagesOf({ items }).length;
  const vision = useVisionChoice(target);
  const album = useRef<HTMLInputElement>(null);
  const camera = useRef<HTMLInputElement>(null);
  const files = useRef<HTMLInputElement>(null);
  const [address, setAddress] = useState('');
  const [wrong, setWrong] = useState(false);
  const full = images >= limits.visionImages;
  const noImages = vision.blind || full;

  const take = (chosen: File[]) => {
    onClose();
    void addFiles(target, chosen, { words: vision.blind });
  };
  const addByAddress = (event: FormEvent) => {
    event.preventDefault();
    event.stopPropagation();
    const url = address.trim();
    if (!isAddress(url)) {
      setWrong(true);
      return;
    }
    if (!addAddress(target, url)) return;
    setAddress('');
    onClose();
  };

  return (
    <>
      {/* Outside of the sheet: the camera's answer comes when the sheet has closed. */}
      <Choice ref={album} accept={imageTypes} label="从相册选择图片" onTake={take} />
      <Choice ref={camera} accept="image/*" label="拍一张照片" camera onTake={take} />
      <Choice ref={files} accept={readableTypes} label="选择文件" onTake={take} />
      <Sheet popover="panel" open={open} onClose={onClose} title="添加">
        {!vision.hopeless && vision.notice}
        {full && !vision.blind && (
          <p className={css.attachNote}>已有 {limits.visionImages} 张图片，去掉一张才能再加</p>
        )}
        <ul className={css.attachWays}>
          <Way
            icon="album"
            label={vision.blind ? '图上的文字' : touch ? '相册' : '图片'}
            off={!vision.blind && full}
            onClick={() => album.current?.click()}
          />
          {touch && (
            <Way
              icon="camera"
              label={vision.blind ? '拍照取字' : '拍照'}
              off={!vision.blind && full}
              onClick={() => camera.current?.click()}
            />
          )}
          <Way icon="file" label="文件" off={false} onClick={() => files.current?.click()} />
        </ul>
        {children}
        {open && <ServerResources target={target} words={vision.blind} onDone={onClose} />}
        {!vision.hopeless && (
          <form className={css.attachAddress} onSubmit={addByAddress}>
            <label htmlFor="attach-address">图片网址</label>
            <div className={css.attachAddressLine}>
              <input
                id="attach-address"
                className="text-input"
                type="url"
                inputMode="url"
                placeholder="https://"
                maxLength={2000}
                value={address}
                disabled={noImages}
                aria-invalid={wrong || undefined}
                aria-describedby="attach-address-hint"
                onChange={(event) => {
                  setAddress(event.target.value);
                  setWrong(false);
                }}
              />
              <Button type="submit" disabled={noImages || address.trim() === ''}>
                添加
              </Button>
            </div>
            <p id="attach-address-hint" className={wrong ? css.attachWrong : 'field-hint'}>
              {wrong ? '请填写以 http:// 或 https:// 开头的网址' : '图片必须能公开访问，jpg 或 png'}
            </p>
          </form>
        )}
        <p className={`field-hint ${css.attachRule}`}>
          {vision.blind
            ? '图片会认出上面的文字交给它，可能有错字；文件可以是'
            : `图片最多 ${limits.visionImages} 张，大照片会先在这台设备上缩小；文件可以是`}
          文档（pdf、docx、doc、epub）、表格（xlsx、csv）、幻灯片（pptx）、文字和代码，每个不超过{' '}
          {limits.fileBytes / (1024 * 1024)} MB。
        </p>
      </Sheet>
    </>
  );
};

export default AttachSheet;
