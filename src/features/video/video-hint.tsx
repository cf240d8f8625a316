import { useModel } from '#src/platform/queries.ts';
import { Button } from '#src/ui/button.tsx';
import { Icon } from '#src/ui/icon.tsx';
import type { SessionDetail } from '#contract/session.ts';
import { openVideoSheet } from './video-dialog-store.ts';
import rowCss from '#src/widgets/conversation/conversation.module.css';

/** In a session of films before its first: what it is, and how it begins. */
export const VideoHint = ({ session }: { session: SessionDetail }) => {
  const model = useModel(session.model);
  return (
    <div className={`${rowCss.list} ${rowCss.firstHint}`}>
      <span className={rowCss.firstDot} style={{ background: model?.color || undefined }}>
        <Icon name="film" size={26} />
      </span>
      <h2>让一张图片动起来</h2>
      {model?.remark && <p>{model.remark}</p>}
      <Button kind="primary" onClick={() => openVideoSheet(session.uuid)}>
        选一张图片
      </Button>
      <p className={rowCss.firstRule}>
        上传、拍照、粘贴、网址，或自己画过的图片都可以
        {model?.video && `；做好的视频约 ${model.video.seconds} 秒`}
      </p>
    </div>
  );
};
