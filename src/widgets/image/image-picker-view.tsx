import { limits } from '#contract/limits.ts';
import { QueryClientProvider } from '@tanstack/react-query';
import {
  type FormEvent,
  type ReactNode,
  type RefObject,
  useCallback,
  useEffect,
  useRef,
  useState,
} from 'react';
import { createRoot } from 'react-dom/client';
import { isImage, imageTypes } from '#src/platform/attach/file-kinds.ts';
import { useCallPages } from '#src/platform/call-query.ts';
import { queryClient } from '#src/platform/query-client.ts';
import { Button } from '#src/ui/button.tsx';
import { EmptyState } from '#src/ui/empty-state.tsx';
import { PathIcon } from '#src/ui/icon.tsx';
import { QueryFailed } from '#src/ui/load-failed.tsx';
import { Sheet } from '#src/ui/sheet.tsx';
import { toast } from '#src/platform/toast.ts';
import { useMedia } from '#src/platform/use-media.ts';
import { ComingTile } from './coming-tile.tsx';
import type { PickedImage } from './picked-image.ts';
import css from './image-picker.module.css';
import { useIntake } from './picker-intake.ts';
import { smallImage } from './image-sources.ts';
import { shelfNames, shelves, sizeOf, type Shelf } from './shelves.ts';
import tileCss from './coming-tile.module.css';

const icons = {
  album:
    'M5 4.5h14A1.5 1.5 0 0 1 20.5 6v12a1.5 1.5 0 0 1-1.5 1.5H5A1.5 1.5 0 0 1 3.5 18V6A1.5 1.5 0 0 1 5 4.5ZM8.5 10.5a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3ZM4 17l5-5 3.5 3.5L16 12l4.5 4.5',
  camera:
    'M4.5 7.5H8l1.5-2.5h5L16 7.5h3.5A1.5 1.5 0 0 1 21 9v9a1.5 1.5 0 0 1-1.5 1.5h-15A1.5 1.5 0 0 1 3 18V9a1.5 1.5 0 0 1 1.5-1.5ZM12 17a3.8 3.8 0 1 0 0-7.6 3.8 3.8 0 0 0 0 7.6Z',
};

/** Tells when the end of the list comes near. */
const End = ({ onNear }: { onNear: () => void }) => {
  const mark = useRef<HTMLLIElement>(null);
  const near = useRef(onNear);
  useEffect(() => {
    near.current = onNear;
  });
  useEffect(() => {
    const element = mark.current;
    if (!element) return undefined;
    const observer = new IntersectionObserver(
      (entries) => {
        if (entries.some((entry) => entry.isIntersecting)) near.current();
      },
      { rootMargin: '400px' },
    );
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return <li ref={mark} className={css.pickerEnd} aria-hidden="true" />;
};

const Tile = ({
  image,
  label,
  number,
  onToggle,
}: {
  image: PickedImage;
  label: string;
  /** Its place among the chosen, from 1; 0: not chosen. */
  number: number;
  onToggle: () => void;
}) => (
  <li>
    <button
      type="button"
      className={tileCss.pickerTile}
      aria-pressed={number > 0}
      aria-label={label}
      onClick={onToggle}
    >
      <img
        src={smallImage(image.url, 180)}
        srcSet={`${smallImage(image.url, 180)} 1x, ${smallImage(image.url, 320)} 2x`}
        alt=""
        loading="lazy"
        decoding="async"
      />
      {number > 0 && <span className={css.pickerNumber}>{number}</span>}
    </button>
  </li>
);

const Shelved = ({
  shelf,
  before,
  chosen,
  onToggle,
}: {
  shelf: Shelf;
  /** Tiles at its head. */
  before: ReactNode;
  chosen: readonly PickedImage[];
  onToggle: (image: PickedImage) => void;
}) => {
  const { call, none } = shelves[shelf];
  const list = useCallPages(call, {});
  const images = list.data?.pages.flatMap((page) => page.list) ?? [];
  if (list.isError && !list.data) return <QueryFailed query={list} />;
  if (list.data && images.length === 0 && !before)
    return <EmptyState icon="document" text={none} />;
  return (
    <ul className={css.pickerGrid} aria-label={shelves[shelf].name} aria-busy={list.isPending}>
      {before}
      {list.isPending &&
        Array.from({ length: 9 }, (_, at) => (
          <li key={at} className={tileCss.pickerTile} aria-hidden="true" />
        ))}
      {images.map((image, at) => {
        const picked = { url: image.url, ...sizeOf(image.size) };
        return (
          <Tile
            key={image.uuid}
            image={picked}
            label={image.prompt ? image.prompt.slice(0, 60) : `第 ${at + 1} 张，${image.size}`}
            number={chosen.findIndex(({ url }) => url === image.url) + 1}
            onToggle={() => onToggle(picked)}
          />
        );
      })}
      {list.hasNextPage && !list.isFetchingNextPage && (
        <End key={images.length} onNear={() => void list.fetchNextPage()} />
      )}
    </ul>
  );
};

const isAddress = (text: string): boolean => {
  try {
    return /^https?:$/.test(new URL(text).protocol);
  } catch {
    return false;
  }
};

const Address = ({ onTake }: { onTake: (url: string) => void }) => {
  const [address, setAddress] = useState('');
  const [wrong, setWrong] = useState(false);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    event.stopPropagation();
    const url = address.trim();
    setWrong(!isAddress(url));
    if (!isAddress(url)) return;
    setAddress('');
    onTake(url);
  };
  return (
    <form className={css.pickerAddress} onSubmit={submit}>
      <input
        className="text-input"
        type="url"
        inputMode="url"
        aria-label="图片网址"
        aria-invalid={wrong || undefined}
        placeholder="图片网址 https://"
        maxLength={2000}
        value={address}
        onChange={(event) => {
          setAddress(event.target.value);
          setWrong(false);
        }}
      />
      <Button type="submit" disabled={address.trim() === ''}>
        导入
      </Button>
      {wrong && <p role="alert">请填写以 http:// 或 https:// 开头、能公开访问的网址</p>}
    </form>
  );
};

/** Lets files be chosen; pressed by a button that can be seen. */
const FileInput = ({
  ref,
  label,
  camera = false,
  several = false,
  onFiles,
}: {
  ref: RefObject<HTMLInputElement | null>;
  label: string;
  camera?: boolean;
  several?: boolean;
  onFiles: (files: File[]) => void;
}) => (
  <input
    ref={ref}
    type="file"
    hidden
    accept={camera ? 'image/*' : imageTypes}
    capture={camera ? 'environment' : undefined}
    multiple={several}
    aria-label={label}
    onChange={(event) => {
      const files = [...(event.target.files ?? [])];
      // The same file can be chosen again.
      event.target.value = '';
      onFiles(files);
    }}
  />
);

/** Images that are pasted anywhere in the page. */
const usePastedImages = (take: (files: File[]) => void) =>
  useEffect(() => {
    const onPaste = (event: ClipboardEvent) => {
      const files = [...(event.clipboardData?.files ?? [])].filter(isImage);
      if (files.length === 0) return;
      event.preventDefault();
      take(files);
    };
    document.addEventListener('paste', onPaste);
    return () => document.removeEventListener('paste', onPaste);
  }, [take]);

const Picker = ({
  max,
  title,
  onDone,
}: {
  max: number;
  title: string;
  onDone: (images: PickedImage[]) => void;
}) => {
  const touch = useMedia('(pointer: coarse)');
  const [open, setOpen] = useState(true);
  const [shelf, setShelf] = useState<Shelf>('uploaded');
  const [chosen, setChosen] = useState<readonly PickedImage[]>([]);
  const album = useRef<HTMLInputElement>(null);
  const camera = useRef<HTMLInputElement>(null);
  const done = (images: readonly PickedImage[]) => {
    setOpen(false);
    onDone([...images]);
  };
  const choose = (image: PickedImage) => {
    if (max === 1) {
      done([image]);
      return;
    }
    setChosen((before) => {
      if (before.some(({ url }) => url === image.url))
        return before.filter(({ url }) => url !== image.url);
      if (before.length < max) return [...before, image];
      toast(`最多选择 ${max} 张图片`, 'error');
      return before;
    });
  };
  const intake = useIntake(choose);
  const { takeFiles } = intake;
  const take = useCallback(
    (files: File[]) => {
      setShelf('uploaded');
      takeFiles(files);
    },
    [takeFiles],
  );
  usePastedImages(take);
  const { coming } = intake;
  const before = shelf === 'uploaded' && coming.length > 0 && (
    <>
      {coming.map((each) => (
        <ComingTile
          key={each.id}
          coming={each}
          onRetry={() => intake.retry(each.id)}
          onRemove={() => intake.remove(each.id)}
        />
      ))}
    </>
  );
  return (
    <>
      <FileInput ref={album} label="从相册选择图片" several={max > 1} onFiles={take} />
      <FileInput ref={camera} label="拍一张照片" camera onFiles={take} />
      <Sheet open={open} onClose={() => done([])} title={title}>
        <div className={css.pickerWays}>
          <Button onClick={() => album.current?.click()}>
            <PathIcon path={icons.album} />
            {touch ? '相册' : '上传图片'}
          </Button>
          {touch && (
            <Button onClick={() => camera.current?.click()}>
              <PathIcon path={icons.camera} />
              拍照
            </Button>
          )}
        </div>
        <Address
          onTake={(url) => {
            setShelf('uploaded');
            intake.takeAddress(url);
          }}
        />
        <p className={`field-hint ${css.pickerRule}`}>
          jpg 或 png，最多 {limits.imageBytes / (1024 * 1024)} MB，大照片会先在这台设备上缩小
          {!touch && '；也可以直接粘贴'}
        </p>
        <div className={`strip ${css.pickerTabs}`} role="tablist" aria-label="已有的图片">
          {shelfNames.map((each) => (
            <button
              key={each}
              type="button"
              role="tab"
              aria-selected={each === shelf}
              onClick={() => setShelf(each)}
            >
              {shelves[each].name}
            </button>
          ))}
        </div>
        <Shelved key={shelf} shelf={shelf} before={before} chosen={chosen} onToggle={choose} />
        {max > 1 && (
          <div className={css.pickerFoot}>
            <Button kind="primary" disabled={chosen.length === 0} onClick={() => done(chosen)}>
              {chosen.length === 0 ? `可选 ${max} 张` : `选好了（${chosen.length}/${max}）`}
            </Button>
          </div>
        )}
      </Sheet>
    </>
  );
};

/** Time for the sheet to leave, ms. */
const leaving = 500;

/** The selector over whatever is open; see `pickImages`. */
export const openImagePicker = ({
  max,
  title = '选择图片',
}: {
  max: number;
  title?: string;
}): Promise<PickedImage[]> =>
  new Promise((resolve) => {
    // In the page: some phones open no camera for an input that stands nowhere.
    const place = document.createElement('div');
    document.body.append(place);
    const root = createRoot(place);
    root.render(
      <QueryClientProvider client={queryClient}>
        <Picker
          max={Math.max(1, max)}
          title={title}
          onDone={(images) => {
            resolve(images);
            setTimeout(() => {
              root.unmount();
              place.remove();
            }, leaving);
          }}
        />
      </QueryClientProvider>,
    );
  });
