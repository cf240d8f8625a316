import { attempt } from '#src/platform/attempt.ts';
import { api } from '#src/platform/api.ts';
import { callKey } from '#src/platform/call-query.ts';
import { ApiError } from '#src/platform/api-error.ts';
import { keepDrafts, readDraft, writeDraft } from '#src/platform/draft.ts';
import { toast } from '#src/platform/toast.ts';
import { Button } from '#src/ui/button.tsx';
import { Icon } from '#src/ui/icon.tsx';
import type { TrainModel } from '#contract/train.ts';
import { trainLimits, trainTexts } from '#contract/train-limits.ts';
import { useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import { FileDrop } from './file-drop.tsx';
import { usePictureUpload } from './picture-upload.ts';
import { settingsOf } from './projects.ts';
import css from './train.module.css';

type LoraImage = { url: string; txt: string };

/** So long after the last change the images are kept, ms. */
const restMs = 600;

/** The images of a style as they stand here: a draft until the server has them. */
const useLoraImages = (model: TrainModel) => {
  const place = `lora:${model.id}`;
  const [resumed] = useState(() => readDraft(place));
  const [images, setImages] = useState<readonly LoraImage[]>(() =>
    resumed === '' ? settingsOf(model).images : (JSON.parse(resumed) as LoraImage[]),
  );
  const client = useQueryClient();
  const changed = useRef<readonly LoraImage[] | null>(null);
  const keep = useCallback(async () => {
    const { current } = changed;
    changed.current = null;
    if (!current) return;
    // Whoever comes back before the answer does finds them, too.
    client.setQueryData<{ model: TrainModel }>(
      callKey('trainModel', { model_id: model.id }),
      (old) => {
        if (!old) return old;
        const settings = JSON.stringify({ ...settingsOf(old.model), images: current });
        return { model: { ...old.model, settings } };
      },
    );
    try {
      await api.setLoraImages(
        { model_id: model.id, images: [...current], start: 0 },
        { quiet: true },
      );
      if (changed.current === null) writeDraft(place, '');
    } catch (error) {
      // Tried again with the next change, and sent whole with the start.
      if (!(error instanceof ApiError)) throw error;
    }
  }, [client, model.id, place]);
  const first = useRef(resumed === '');
  useEffect(() => {
    if (first.current) {
      first.current = false;
      return undefined;
    }
    changed.current = images;
    writeDraft(place, JSON.stringify(images));
    const timer = setTimeout(() => void keep(), restMs);
    return () => clearTimeout(timer);
  }, [images, keep, place]);
  useEffect(() => () => void keep(), [keep]);
  return {
    images,
    setImages,
    /** They go to the server otherwise: nothing is kept any more. */
    leave: () => {
      changed.current = null;
    },
    forget: () => writeDraft(place, ''),
  };
};

/** What is said of each image; with Ctrl and an arrow one goes from one to the next. */
const ImageList = ({
  images,
  onSay,
  onRemove,
}: {
  images: readonly LoraImage[];
  onSay: (url: string, txt: string) => void;
  onRemove: (url: string) => void;
}) => (
  <ul className={css.images}>
    {images.map(({ url, txt }, at) => (
      <li key={url}>
        <img
          src={url.startsWith('/files/') ? `${url}?size=180` : url}
          alt={txt || `第 ${at + 1} 张`}
          loading="lazy"
        />
        <textarea
          value={txt}
          rows={3}
          maxLength={1000}
          placeholder="画的是什么"
          aria-label={`第 ${at + 1} 张的说明`}
          onChange={(event) => onSay(url, event.target.value)}
          onKeyDown={(event) => {
            if (!(event.ctrlKey || event.metaKey)) return;
            const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
            if (step === undefined) return;
            event.preventDefault();
            const fields = [
              ...(event.currentTarget.closest('ul')?.querySelectorAll('textarea') ?? []),
            ];
            fields[at + step]?.focus();
          }}
        />
        <Button
          kind="ghost"
          size="icon"
          aria-label={`去掉第 ${at + 1} 张`}
          onClick={() => onRemove(url)}
        >
          <Icon name="trash" size={18} />
        </Button>
      </li>
    ))}
  </ul>
);

/** Images that a style is learned from, each with what is said of it. */
export const LoraImages = ({
  model,
  onStarted,
}: {
  model: TrainModel;
  onStarted: (model: TrainModel) => void;
}) => {
  const { images, setImages, leave, forget } = useLoraImages(model);
  const [busy, setBusy] = useState<'' | 'look' | 'start'>('');
  const [told, setTold] = useState('');
  const put = async (url: string) => {
    // The effect above has written the draft when this returns.
    flushSync(() =>
      setImages((all) =>
        // One that arrived before a kill comes again under the address that it has.
        all.some((image) => image.url === url) || all.length >= trainLimits.loraImages
          ? all
          : [...all, { url, txt: '' }],
      ),
    );
    // Without room the page alone has it.
    await keepDrafts().catch(() => undefined);
  };
  const coming = usePictureUpload(model.id, put);
  const uploading = coming.told !== '' && !coming.halted;
  const say = (url: string, txt: string) =>
    setImages((all) => all.map((image) => (image.url === url ? { ...image, txt } : image)));

  const take = (files: readonly File[]) => {
    const room = trainLimits.loraImages - images.length;
    if (files.length > room) toast(`最多 ${trainLimits.loraImages} 张图片`, 'error');
    coming.take(files.slice(0, room));
  };

  const describe = async () => {
    setBusy('look');
    const waiting = images.filter(({ txt }) => txt.trim() === '');
    for (const [at, { url }] of waiting.entries()) {
      setTold(`正在看第 ${at + 1} / ${waiting.length} 张`);
      const done = await attempt(async () => {
        const { result } = await api.interrogateImage({
          image_url: url,
          model: 'clip',
          chinese: 0,
        });
        say(url, result.slice(0, 1000));
      });
      if (!done) break;
    }
    setTold('');
    setBusy('');
  };

  const start = async () => {
    if (images.length === 0) {
      toast(trainTexts.files, 'error');
      return;
    }
    setBusy('start');
    leave();
    await attempt(async () => {
      const { model: now } = await api.setLoraImages({
        model_id: model.id,
        images: images.map(({ url, txt }) => ({ url, txt })),
      });
      forget();
      onStarted(now);
    });
    setBusy('');
  };

  const empty = images.filter(({ txt }) => txt.trim() === '').length;
  return (
    <div className={css.lora}>
      <FileDrop
        accept="image/jpeg,image/png,image/*"
        text="添加图片"
        hint={`jpg 或 png，每张至多 4 MB，最多 ${trainLimits.loraImages} 张；同一种画风的图片越多越好`}
        onFiles={take}
      />
      {told + coming.told !== '' && (
        <p className={css.note} role="status">
          {told || coming.told}{' '}
          {coming.halted && (
            <Button size="small" onClick={() => void coming.goOn()}>
              接着传
            </Button>
          )}
        </p>
      )}
      {images.length > 0 && (
        <>
          <div className={css.sectionHead}>
            <h3>{images.length} 张图片</h3>
            <Button
              size="small"
              busy={busy === 'look'}
              disabled={empty === 0 || busy !== '' || uploading}
              onClick={() => void describe()}
            >
              {empty === 0 ? '都有说明了' : `一键写说明（${empty}）`}
            </Button>
          </div>
          <ImageList
            images={images}
            onSay={say}
            onRemove={(url) => setImages((all) => all.filter((image) => image.url !== url))}
          />
        </>
      )}
      <Button
        kind="primary"
        busy={busy === 'start'}
        disabled={busy !== '' || uploading || model.job !== null}
        onClick={() => void start()}
      >
        {model.job ? '正在训练' : '开始训练'}
      </Button>
    </div>
  );
};
