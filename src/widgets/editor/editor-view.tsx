import { ApiError, errorText } from '#src/platform/api-error.ts';
import { prepareImage } from '#src/platform/attach/shrink-image.ts';
import { holdBox, readDraft, useDraft, writeDraft } from '#src/platform/draft.ts';
import { Markdown } from '#src/widgets/markdown/markdown.tsx';
import { Button } from '#src/ui/button.tsx';
import { confirmDialog } from '#src/ui/dialog.ts';
import { Icon, PathIcon } from '#src/ui/icon.tsx';
import { useModal } from '#src/ui/modal.ts';
import { laterText } from '#src/platform/outbox.ts';
import { toast } from '#src/platform/toast.ts';
import { upload } from '#src/platform/upload.ts';
import { uuid } from '#src/platform/uuid.ts';
import { limits } from '#contract/limits.ts';
import {
  useDeferredValue,
  useEffect,
  useId,
  useRef,
  useState,
  type ClipboardEvent,
  type DragEvent,
  type RefObject,
} from 'react';
import { createPortal } from 'react-dom';
import type { EditorProps } from './editor-props.ts';
import { editFor, type TextEdit, type Tool } from './text-edits.ts';
import css from './editor.module.css';

const titleMost = 100;

const tools: readonly { tool: Tool; label: string; path: string }[] = [
  { tool: 'bold', label: '粗体', path: 'M7 5h6a3.5 3.5 0 0 1 0 7H7zM7 12h7a3.5 3.5 0 0 1 0 7H7z' },
  { tool: 'italic', label: '斜体', path: 'M10 5h8M6 19h8M14 5l-4 14' },
  { tool: 'heading', label: '标题', path: 'M6 5v14M18 5v14M6 12h12' },
  { tool: 'list', label: '列表', path: 'M9 6h11M9 12h11M9 18h11M4.5 6h.01M4.5 12h.01M4.5 18h.01' },
  {
    tool: 'numbers',
    label: '编号列表',
    path: 'M10 6h10M10 12h10M10 18h10M4 4.5h1.5V9M4 15h2.5L4 19h2.5',
  },
  { tool: 'quote', label: '引用', path: 'M5 5v14M9.5 8h10M9.5 12h10M9.5 16h6' },
  { tool: 'code', label: '代码', path: 'M8.5 7 3.5 12l5 5M15.5 7l5 5-5 5' },
  {
    tool: 'link',
    label: '链接',
    path: 'M10 14a4 4 0 0 0 6 .4l3-3a4 4 0 0 0-5.7-5.7l-1.2 1.2M14 10a4 4 0 0 0-6-.4l-3 3a4 4 0 0 0 5.7 5.7l1.2-1.2',
  },
  { tool: 'table', label: '表格', path: 'M4 5h16v14H4zM4 10h16M4 14.5h16M12 5v14' },
];
const imagePath =
  'M5 4.5h14A1.5 1.5 0 0 1 20.5 6v12a1.5 1.5 0 0 1-1.5 1.5H5A1.5 1.5 0 0 1 3.5 18V6A1.5 1.5 0 0 1 5 4.5ZM8.5 10.5a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3ZM4 17l5-5 3.5 3.5L16 12l4.5 4.5';

/** Puts an edit into the box the way typing does, so that the browser can undo it. */
const put = (area: HTMLTextAreaElement, { from, to, text, select }: TextEdit) => {
  area.focus();
  area.setSelectionRange(from, to);
  if (!document.execCommand('insertText', false, text)) {
    area.setRangeText(text, from, to, 'end');
    area.dispatchEvent(new Event('input', { bubbles: true }));
  }
  area.setSelectionRange(...select);
};

interface Written {
  title: string;
  text: string;
}

const useWritten = (draftKey: string, first: Written) => {
  const key = `edit:${draftKey}`;
  const [draft] = useDraft(key);
  /** What is shown while it is on its way, out of its draft. */
  const [leaving, setLeaving] = useState<Written | null>(null);
  const writtenIn = (kept: string): Written => {
    try {
      return kept === '' ? first : { ...first, ...(JSON.parse(kept) as Partial<Written>) };
    } catch {
      // An unreadable draft: the text as it was.
      return first;
    }
  };
  const written = leaving ?? writtenIn(draft);
  const changed = written.text !== first.text || written.title !== first.title;
  const set = (next: Partial<Written>) => {
    if (leaving) return;
    // The other box may have changed since this was drawn.
    const all = { ...writtenIn(readDraft(key)), ...next };
    const same = all.text === first.text && all.title === first.title;
    writeDraft(key, same ? '' : JSON.stringify(all));
  };
  const empty = () => writeDraft(key, '');
  /** The words leave with the act that `send` writes down, and come back when it comes to nothing. */
  const leave = async <T,>(send: () => Promise<T>): Promise<T> => {
    const before = readDraft(key);
    const release = holdBox(draftKey);
    setLeaving(written);
    try {
      empty();
      return await send();
    } catch (error) {
      writeDraft(key, before);
      setLeaving(null);
      throw error;
    } finally {
      release();
    }
  };
  return { ...written, changed, set, empty, leave };
};

/** What is missing, in the words of the specification; empty when nothing is. */
const missing = (title: string | null, text: string): string => {
  const noTitle = title !== null && title === '';
  if (noTitle && text === '') return '请输入内容和标题';
  if (noTitle) return '请输入标题';
  return text === '' ? '请输入内容' : '';
};

/** Puts images at the cursor: chosen, pasted and dropped ones. `sending`: how many are on their way. */
const useImages = (area: RefObject<HTMLTextAreaElement | null>) => {
  const [sending, setSending] = useState(0);
  const addImage = async (file: File) => {
    setSending((count) => count + 1);
    try {
      const { blob, name } = await prepareImage(file);
      const { image } = await upload('uploadImage', blob, {
        fileName: name,
        idempotencyKey: uuid(),
        outlasts: true,
      });
      const box = area.current;
      if (!box) return;
      const made = `![${name.replace(/\.\w+$/, '').replaceAll(/[[\]]/g, '')}](${image.url})`;
      const at = box.selectionEnd + made.length;
      put(box, { from: box.selectionEnd, to: box.selectionEnd, text: made, select: [at, at] });
    } catch (error) {
      toast(`上传失败：${error instanceof Error ? error.message : errorText(error)}`, 'error');
    } finally {
      setSending((count) => count - 1);
    }
  };
  const addImages = async (files: readonly File[]) => {
    for (const file of files) await addImage(file);
  };
  const paste = (event: ClipboardEvent) => {
    const files = [...event.clipboardData.files].filter((file) => file.type.startsWith('image/'));
    if (files.length === 0 || event.clipboardData.types.includes('text/plain')) return;
    event.preventDefault();
    void addImages(files);
  };

  const drop = (event: DragEvent) => {
    const files = [...event.dataTransfer.files].filter((file) => file.type.startsWith('image/'));
    if (files.length === 0) return;
    event.preventDefault();
    void addImages(files);
  };
  return { sending, addImages, paste, drop };
};

/** Begins where one would write: in an empty title, otherwise at the end of the text. */
const useFirstFocus = (
  initialTitle: string | undefined,
  titleBox: RefObject<HTMLInputElement | null>,
  area: RefObject<HTMLTextAreaElement | null>,
) =>
  useEffect(() => {
    const box = initialTitle === '' ? titleBox.current : area.current;
    // After the modal has taken the focus for itself.
    const timer = setTimeout(() => {
      // Whoever is in it already has chosen where.
      if (!box || box === document.activeElement) return;
      box.setSelectionRange(box.value.length, box.value.length);
      box.focus({ preventScroll: true });
    }, 50);
    return () => clearTimeout(timer);
  }, [initialTitle, titleBox, area]);

/** Closes the editor; what is not saved is given up only after a question. */
const useClosing = (
  saving: boolean,
  { changed, empty }: ReturnType<typeof useWritten>,
  panel: RefObject<HTMLDivElement | null>,
  onClose: () => void,
) => {
  const [asking, setAsking] = useState(false);
  const close = async () => {
    if (saving || asking) return;
    if (changed) {
      setAsking(true);
      const sure = await confirmDialog({
        title: '还没有保存',
        text: '放弃的话，写的内容就没有了。',
        ok: '放弃',
        danger: true,
      });
      setAsking(false);
      if (!sure) return;
    }
    empty();
    onClose();
  };
  // While it asks, the dialog has the back button; afterwards it is ours anew.
  useModal(!asking, () => void close(), panel);
  return close;
};

const Restored = ({ onDrop }: { onDrop: () => void }) => (
  <p className={css.editorNote} role="status">
    已恢复上次没有保存的内容
    <button type="button" onClick={onDrop}>
      换回原文
    </button>
  </p>
);

type Tab = 'write' | 'preview';

const Tabs = ({ id, tab, onTab }: { id: string; tab: Tab; onTab: (tab: Tab) => void }) => (
  <div className={`segments ${css.editorTabs}`} role="tablist" aria-label="编辑或预览">
    {(['write', 'preview'] as const).map((each) => (
      <button
        key={each}
        type="button"
        role="tab"
        id={`${id}-${each}-tab`}
        aria-selected={tab === each}
        aria-controls={`${id}-${each}`}
        onClick={() => onTab(each)}
      >
        {each === 'write' ? '编辑' : '预览'}
      </button>
    ))}
  </div>
);

const Tools = ({
  sending,
  onTool,
  onImages,
}: {
  sending: number;
  onTool: (tool: Tool) => void;
  onImages: (files: readonly File[]) => void;
}) => {
  const picker = useRef<HTMLInputElement>(null);
  return (
    <div className={css.editorTools} role="toolbar" aria-label="格式">
      {tools.map(({ tool, label, path }) => (
        <button
          key={tool}
          type="button"
          aria-label={label}
          title={label}
          onPointerDown={(event) => event.preventDefault()}
          onClick={() => onTool(tool)}
        >
          <PathIcon path={path} kind={tool === 'list' ? 'bold' : ''} />
        </button>
      ))}
      <button
        type="button"
        aria-label="插入图片"
        title="插入图片"
        aria-busy={sending > 0 || undefined}
        onClick={() => picker.current?.click()}
      >
        <PathIcon path={imagePath} />
      </button>
      {sending > 0 && <span role="status">正在上传图片…</span>}
      <input
        ref={picker}
        type="file"
        hidden
        multiple
        accept="image/*"
        aria-label="选择要插入的图片"
        onChange={(event) => {
          const chosen = [...(event.target.files ?? [])];
          event.target.value = '';
          onImages(chosen);
        }}
      />
    </div>
  );
};

const Panes = ({
  id,
  text,
  area,
  images: { paste, drop },
  onText,
}: {
  id: string;
  text: string;
  area: RefObject<HTMLTextAreaElement | null>;
  images: ReturnType<typeof useImages>;
  onText: (text: string) => void;
}) => {
  const shown = useDeferredValue(text);
  return (
    <div className={css.editorPanes}>
      <div
        className={css.editorWrite}
        id={`${id}-write`}
        role="tabpanel"
        aria-labelledby={`${id}-write-tab`}
      >
        <textarea
          ref={area}
          value={text}
          placeholder="写点什么，可以用 Markdown 排版"
          aria-label="内容"
          maxLength={limits.defaultMaxPrompt}
          onChange={(event) => onText(event.target.value)}
          onPaste={paste}
          onDrop={drop}
          onDragOver={(event) => {
            if (event.dataTransfer.types.includes('Files')) event.preventDefault();
          }}
        />
      </div>
      <div
        className={css.editorPreview}
        id={`${id}-preview`}
        role="tabpanel"
        aria-labelledby={`${id}-preview-tab`}
      >
        {shown.trim() === '' ? (
          <p className={css.editorEmpty}>还没有内容</p>
        ) : (
          <Markdown text={shown} />
        )}
      </div>
    </div>
  );
};

const EditorView = ({
  heading,
  initialTitle,
  initialText,
  action,
  success,
  draftKey,
  BelowTitle,
  children,
  onSave,
  onClose,
}: EditorProps) => {
  const titled = initialTitle !== undefined;
  const written = useWritten(draftKey, {
    title: initialTitle ?? '',
    text: initialText,
  });
  const { title, text, changed, set, empty, leave } = written;
  const [restored, setRestored] = useState(changed && (initialText !== '' || titled));
  const [tab, setTab] = useState<Tab>('write');
  const [saving, setSaving] = useState(false);
  const panel = useRef<HTMLDivElement>(null);
  const area = useRef<HTMLTextAreaElement>(null);
  const titleBox = useRef<HTMLInputElement>(null);
  const id = useId();
  const images = useImages(area);
  const { sending } = images;

  const close = useClosing(saving, written, panel, onClose);
  useFirstFocus(initialTitle, titleBox, area);

  const save = async () => {
    if (saving) return;
    const lacks = missing(titled ? title.trim() : null, text.trim());
    if (lacks !== '') {
      toast(lacks, 'error');
      (lacks.includes('标题') ? titleBox.current : area.current)?.focus();
      return;
    }
    if (sending > 0) {
      toast('图片还在上传，请稍候', 'error');
      return;
    }
    setSaving(true);
    try {
      const edited = { content: text.trim(), ...(titled ? { title: title.trim() } : {}) };
      const done = await leave(() => onSave(edited));
      toast(done ? success : laterText, 'success');
      onClose();
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      // The call has said why.
      setSaving(false);
    }
  };

  const use = (tool: Tool) => {
    const box = area.current;
    if (box) put(box, editFor(tool, box.value, box.selectionStart, box.selectionEnd));
  };
  return createPortal(
    <div
      className={css.editor}
      data-whole-window
      role="dialog"
      aria-modal="true"
      aria-labelledby={`${id}-heading`}
      tabIndex={-1}
      ref={panel}
      onKeyDown={(event) => {
        if (!event.ctrlKey && !event.metaKey) return;
        const tool = { b: 'bold', i: 'italic' }[event.key] as Tool | undefined;
        if (event.key === 'Enter') void save();
        else if (tool) use(tool);
        else return;
        event.preventDefault();
      }}
    >
      <div className={css.editorInner} data-tab={tab}>
        <header className={css.editorHead}>
          <Button kind="ghost" size="icon" aria-label="关闭" onClick={() => void close()}>
            <Icon name="close" />
          </Button>
          <h2 id={`${id}-heading`}>{heading}</h2>
          <Tabs id={id} tab={tab} onTab={setTab} />
          <Button kind="primary" size="small" busy={saving} onClick={() => void save()}>
            {action}
          </Button>
        </header>
        {restored && changed && (
          <Restored
            onDrop={() => {
              empty();
              setRestored(false);
            }}
          />
        )}
        {titled && (
          <input
            ref={titleBox}
            className={css.editorTitle}
            placeholder="标题"
            aria-label="标题"
            maxLength={titleMost}
            value={title}
            onChange={(event) => set({ title: event.target.value })}
          />
        )}
        {BelowTitle && <BelowTitle title={title} />}
        <Tools sending={sending} onTool={use} onImages={(files) => void images.addImages(files)} />
        <Panes
          id={id}
          text={text}
          area={area}
          images={images}
          onText={(next) => set({ text: next })}
        />
        {children !== undefined && <footer className={css.editorFoot}>{children}</footer>}
      </div>
    </div>,
    document.body,
  );
};

export default EditorView;
