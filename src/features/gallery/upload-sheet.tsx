import { useEffect, useRef, useState } from 'react';
import { useAuth } from '#src/platform/auth-store.ts';
import { imageTypes } from '#src/platform/attach/file-kinds.ts';
import { ComingTile } from '#src/widgets/image/coming-tile.tsx';
import { useIntake } from '#src/widgets/image/picker-intake.ts';
import { smallImage } from '#src/widgets/image/image-sources.ts';
import { Button } from '#src/ui/button.tsx';
import { Sheet } from '#src/ui/sheet.tsx';
import { toast } from '#src/platform/toast.ts';
import { limits } from '#contract/limits.ts';
import styles from './gallery.module.css';

/** Images from the album, the camera, or dropped. */
const DropPlace = ({ onFiles }: { onFiles: (files: File[]) => void }) => {
  const [over, setOver] = useState(false);
  const album = useRef<HTMLInputElement>(null);
  const camera = useRef<HTMLInputElement>(null);
  const choose = (input: HTMLInputElement) => {
    const files = [...(input.files ?? [])];
    // The same file can be chosen again.
    input.value = '';
    onFiles(files);
  };
  return (
    <div
      className={styles['drop']}
      data-over={over || undefined}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        onFiles([...event.dataTransfer.files]);
      }}
    >
      <p>jpg 或 png，每张至多 4 MB；太大的照片会先缩小。也可以拖进来或粘贴。</p>
      <div className={styles['row']}>
        <Button kind="primary" onClick={() => album.current?.click()}>
          选择图片
        </Button>
        <Button onClick={() => camera.current?.click()}>拍一张</Button>
      </div>
      <input
        ref={album}
        type="file"
        hidden
        accept={imageTypes}
        multiple
        aria-label="选择要上传的图片"
        onChange={(event) => choose(event.target)}
      />
      <input
        ref={camera}
        type="file"
        hidden
        accept="image/*"
        capture="environment"
        aria-label="拍一张照片上传"
        onChange={(event) => choose(event.target)}
      />
    </div>
  );
};

/** Images by their address. */
const AddressForm = ({ onAddress }: { onAddress: (url: string) => void }) => {
  const [address, setAddress] = useState('');
  const fetchAddress = () => {
    const url = address.trim();
    if (!/^https?:\/\/\S+$/i.test(url) || !URL.canParse(url)) {
      toast('请填写完整的图片网址，以 http 开头', 'error');
      return;
    }
    setAddress('');
    onAddress(url);
  };
  return (
    <form
      className={styles['address']}
      onSubmit={(event) => {
        event.preventDefault();
        fetchAddress();
      }}
    >
      <input
        className="text-input"
        type="url"
        inputMode="url"
        value={address}
        placeholder="或粘贴图片的网址"
        aria-label="图片网址"
        onChange={(event) => setAddress(event.target.value)}
      />
      <Button type="submit" disabled={address.trim() === ''}>
        导入
      </Button>
    </form>
  );
};

/** Brings images in: chosen, taken, dropped, pasted or by their address. */
export const UploadSheet = ({ open, onClose }: { open: boolean; onClose: () => void }) => {
  const { guest } = useAuth();
  const [there, setThere] = useState<readonly string[]>([]);
  const intake = useIntake(({ url }) => setThere((all) => [url, ...all]));
  const { takeFiles } = intake;
  useEffect(() => {
    if (!open) return undefined;
    const onPaste = (event: ClipboardEvent) => {
      const files = [...(event.clipboardData?.files ?? [])];
      if (files.length === 0) return;
      event.preventDefault();
      takeFiles(files);
    };
    document.addEventListener('paste', onPaste);
    return () => document.removeEventListener('paste', onPaste);
  }, [open, takeFiles]);
  return (
    <Sheet
      open={open}
      onClose={() => {
        setThere([]);
        onClose();
      }}
      title="上传图片"
    >
      <DropPlace onFiles={takeFiles} />
      <AddressForm onAddress={(url) => intake.takeAddress(url)} />
      {intake.coming.length + there.length > 0 && (
        <ul className={styles['coming']} aria-label="上传的图片">
          {intake.coming.map((each) => (
            <ComingTile
              key={each.id}
              coming={each}
              onRetry={() => intake.retry(each.id)}
              onRemove={() => intake.remove(each.id)}
            />
          ))}
          {there.map((url) => (
            <li key={url} className={styles['there']}>
              <img src={smallImage(url, 180)} alt="已上传" />
            </li>
          ))}
        </ul>
      )}
      {there.length > 0 && (
        <p className={styles['note']} role="status">
          已上传 {there.length} 张，关闭后就能看到。
        </p>
      )}
      <p className={styles['note']}>
        上传后 {guest ? limits.unusedGuestFileDays : limits.unusedFileDays}{' '}
        天都没有用到的图片会自动清理；用在消息、提问、头像、修改等任何地方的会一直保留。
      </p>
    </Sheet>
  );
};
