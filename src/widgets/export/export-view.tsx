import { saveFrom } from '#src/platform/save-file.ts';
import type { ExportFormat } from '#contract/export.ts';
import { useEffect, useState } from 'react';
import { Button } from '#src/ui/button.tsx';
import { Icon, type IconName } from '#src/ui/icon.tsx';
import { Sheet } from '#src/ui/sheet.tsx';
import {
  dropExport,
  startExport,
  useExportJob,
  watchExports,
  type ExportJob,
} from './export-job.ts';
import type { ExportSheetProps } from './export-sheet-props.ts';
import css from './export.module.css';
import { LongImageMaker } from './long-image-maker.tsx';
import { ShareLink } from './share-link.tsx';

type Part = 'choice' | 'image' | 'link';

const titles: Readonly<Record<Part, string>> = {
  choice: '导出与分享',
  image: '长图',
  link: '分享链接',
};

const formats: readonly { format: ExportFormat; name: string; hint: string }[] = [
  { format: 'pdf', name: 'PDF', hint: '排版好的文档，文字可以选中和搜索' },
  { format: 'markdown', name: 'Markdown', hint: '纯文本，适合放进笔记' },
  { format: 'json', name: 'JSON', hint: '包含所有分支，可以再导入鹊桥' },
];

const sizeText = (bytes: number): string =>
  bytes < 1024 * 1024
    ? `${Math.max(1, Math.round(bytes / 1024))} KB`
    : `${(bytes / 1024 / 1024).toFixed(1)} MB`;

const Way = ({
  icon,
  name,
  hint,
  onClick,
}: {
  icon: IconName;
  name: string;
  hint: string;
  onClick: () => void;
}) => (
  <button type="button" className={css.way} onClick={onClick}>
    <Icon name={icon} size={22} />
    <span>
      <strong>{name}</strong>
      <small>{hint}</small>
    </span>
    <Icon name="forward" size={18} />
  </button>
);

const Failures = ({ failed }: { failed: readonly string[] }) => (
  <div className={css.exportFailed} role="alert">
    <p>
      <Icon name="warning" size={18} />有 {failed.length}{' '}
      张图片没有放进文件，里面留了说明。别的网站的图片不会去取。
    </p>
    <ul>
      {failed.map((address) => (
        <li key={address}>{address}</li>
      ))}
    </ul>
  </div>
);

const Progress = ({ name, job, onDrop }: { name: string; job: ExportJob; onDrop: () => void }) => (
  <div className={css.exportJob}>
    <div className={css.exportLine}>
      <strong>{name}</strong>
      <span aria-hidden="true">{Math.floor(job.progress * 100)}%</span>
      <Button size="small" onClick={onDrop}>
        取消
      </Button>
    </div>
    <progress max={1} value={job.progress} aria-label={`正在导出 ${name}`} />
    <small>可以关掉这里继续聊，好了会提醒您</small>
  </div>
);

const Format = ({
  sessionUuid,
  format,
  name,
  hint,
}: {
  sessionUuid: string;
  format: ExportFormat;
  name: string;
  hint: string;
}) => {
  const job = useExportJob(sessionUuid, format);
  const start = () => startExport(sessionUuid, format);
  if (!job) return <Way icon="document" name={name} hint={hint} onClick={start} />;
  if (job.error !== '')
    return (
      <div className={css.exportJob} role="alert">
        <div className={css.exportLine}>
          <strong>{name}</strong>
          <Button size="small" onClick={start}>
            重试
          </Button>
        </div>
        <small className={css.exportError}>{job.error}</small>
      </div>
    );
  const { file } = job;
  if (!file)
    return <Progress name={name} job={job} onDrop={() => dropExport(sessionUuid, format)} />;
  return (
    <div className={css.exportJob}>
      <div className={css.exportLine}>
        <a
          className={css.exportFile}
          href={file.href}
          download={file.name}
          onClick={(event) => {
            event.preventDefault();
            saveFrom(file.href, file.name);
          }}
        >
          <Icon name="download" size={20} />
          <span>
            <strong>{file.name}</strong>
            <small>{sizeText(file.size)}，一小时内可以下载</small>
          </span>
        </a>
        <Button size="small" aria-label={`重新导出 ${name}`} onClick={start}>
          重新导出
        </Button>
      </div>
      {job.failed.length > 0 && <Failures failed={job.failed} />}
    </div>
  );
};

const ExportView = ({ session, open, onClose, messages }: ExportSheetProps) => {
  const [part, setPart] = useState<Part>('choice');
  useEffect(() => (open ? watchExports(session.uuid) : undefined), [open, session.uuid]);
  const close = () => {
    onClose();
    setPart('choice');
  };
  return (
    <Sheet popover="panel" open={open} onClose={close} title={titles[part]}>
      {part !== 'choice' && (
        <button type="button" className={css.exportBack} onClick={() => setPart('choice')}>
          <Icon name="back" size={18} />
          其他方式
        </button>
      )}
      {part === 'choice' && (
        <div className={css.ways}>
          {!session.temporary &&
            formats.map((each) => (
              <Format key={each.format} sessionUuid={session.uuid} {...each} />
            ))}
          <Way
            icon="share"
            name="长图"
            hint="把最近的消息画成一张图片"
            onClick={() => setPart('image')}
          />
          {session.owner && !session.temporary && (
            <Way
              icon="link"
              name="分享链接"
              hint="不登录也能看，随时可以停止"
              onClick={() => setPart('link')}
            />
          )}
          {session.temporary && (
            <p className={css.exportNote}>临时对话不保存在服务器上，只能画成长图。</p>
          )}
        </div>
      )}
      {part === 'image' && <LongImageMaker session={session} messages={messages} />}
      {part === 'link' && <ShareLink session={session} />}
    </Sheet>
  );
};

export default ExportView;
