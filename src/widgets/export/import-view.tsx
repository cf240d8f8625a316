import type { Out } from '#contract/calls.ts';
import { useRef, useState, type DragEvent } from 'react';
import { api } from '#src/platform/api.ts';
import { ApiError } from '#src/platform/api-error.ts';
import { useAuth } from '#src/platform/auth-store.ts';
import { Button, ButtonLink } from '#src/ui/button.tsx';
import { Icon } from '#src/ui/icon.tsx';
import { Sheet } from '#src/ui/sheet.tsx';
import css from './export.module.css';
import { readImport, UnreadableFile } from './import-file.ts';
import type { ImportSheetProps } from './import-sheet-props.ts';

type State =
  | { step: 'choose'; problem: string }
  | { step: 'reading' | 'sending'; name: string }
  | { step: 'done'; result: Out<'importSessions'> };

const start: State = { step: 'choose', problem: '' };

const Done = ({
  result,
  onClose,
  onAgain,
}: {
  result: Out<'importSessions'>;
  onClose: () => void;
  onAgain: () => void;
}) => (
  <div className={css.exportPart}>
    <p role="status">
      {result.sessions > 0
        ? `已导入 ${result.sessions} 个会话，共 ${result.messages} 条消息，都是私有的。`
        : '没有导入任何会话。'}
    </p>
    {result.skipped.length > 0 && (
      <>
        <p className={css.exportNote}>下面这些没有读懂，已跳过：</p>
        <ul className={css.exportSkipped}>
          {result.skipped.map((what, at) => (
            <li key={at}>{what}</li>
          ))}
        </ul>
      </>
    )}
    <div className={css.exportActs}>
      {result.uuid !== null && (
        <ButtonLink kind="primary" to="/chat" search={{ uuid: result.uuid }} onClick={onClose}>
          打开导入的会话
        </ButtonLink>
      )}
      <Button onClick={onAgain}>再导入一个</Button>
    </div>
  </div>
);

const ImportView = ({ open, onClose }: ImportSheetProps) => {
  const { signedIn } = useAuth();
  const [state, setState] = useState<State>(start);
  const [over, setOver] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  const close = () => {
    onClose();
    if (state.step === 'done') setState(start);
  };
  const take = async (file: File) => {
    setState({ step: 'reading', name: file.name });
    try {
      const data = await readImport(file);
      setState({ step: 'sending', name: file.name });
      setState({ step: 'done', result: await api.importSessions({ data }, { quiet: true }) });
    } catch (error) {
      if (!(error instanceof ApiError) && !(error instanceof UnreadableFile)) throw error;
      setState({ step: 'choose', problem: error.message });
    }
  };
  const drop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    const file = event.dataTransfer.files[0];
    if (file) void take(file);
  };
  const busy = state.step === 'reading' || state.step === 'sending';
  return (
    <Sheet open={open} onClose={close} title="导入会话">
      {!signedIn && (
        <div className={css.exportPart}>
          <p className={css.exportNote}>登录之后才能导入会话。</p>
          <ButtonLink kind="primary" to="/login" onClick={onClose}>
            去登录
          </ButtonLink>
        </div>
      )}
      {signedIn && state.step === 'done' && (
        <Done result={state.result} onClose={onClose} onAgain={() => setState(start)} />
      )}
      {signedIn && state.step !== 'done' && (
        <div className={css.exportPart}>
          <p className={css.exportNote}>
            可以导入鹊桥导出的 JSON，也可以导入 ChatGPT 的导出：它发来的 zip，或里面的
            conversations.json。原来的时间会保留，导入的会话总是私有，也不占每月的会话数。
          </p>
          <div
            className={css.exportDrop}
            data-over={over || undefined}
            onDragOver={(event) => {
              event.preventDefault();
              setOver(true);
            }}
            onDragLeave={() => setOver(false)}
            onDrop={drop}
          >
            <Icon name="document" size={28} />
            {busy ? (
              <span role="status">
                {state.step === 'reading' ? '正在读' : '正在导入'}「{state.name}」…
              </span>
            ) : (
              <Button kind="primary" onClick={() => input.current?.click()}>
                选择文件
              </Button>
            )}
          </div>
          <input
            ref={input}
            type="file"
            hidden
            aria-label="选择要导入的文件"
            accept=".json,.zip,application/json,application/zip"
            onChange={(event) => {
              const file = event.target.files?.[0];
              event.target.value = '';
              if (file) void take(file);
            }}
          />
          {state.step === 'choose' && state.problem !== '' && (
            <p className={css.exportFailed} role="alert">
              {state.problem}
            </p>
          )}
        </div>
      )}
    </Sheet>
  );
};

export default ImportView;
