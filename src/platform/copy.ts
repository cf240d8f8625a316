import { madeText } from './leaving.ts';
import { toast } from '#src/platform/toast.ts';

/** Puts text on the clipboard and says how it went. */
export const copyText = async (text: string): Promise<void> => {
  try {
    if (!navigator.clipboard) throw new Error('no clipboard outside a secure page');
    await navigator.clipboard.writeText(text);
  } catch (error) {
    if (!copyBySelection(text)) {
      const denied = error instanceof DOMException && error.name === 'NotAllowedError';
      const reason = denied ? '浏览器没有允许' : '这个页面不是安全连接';
      toast(`复制失败：${reason}，请长按文字手动复制`, 'error');
      return;
    }
  }
  toast('复制成功', 'success');
};

/** Copies what a model wrote. */
export const copyMade = (text: string): Promise<void> => copyText(madeText(text));

/** The old way, which also works on plain http. */
const copyBySelection = (text: string): boolean => {
  const area = document.createElement('textarea');
  area.value = text;
  area.setAttribute('readonly', '');
  area.className = 'off-screen';
  document.body.append(area);
  area.select();
  try {
    return document.execCommand('copy');
  } catch {
    return false;
  } finally {
    area.remove();
  }
};
