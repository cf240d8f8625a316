/** What a button of the toolbar does to the text: takes the place of `from`–`to`, then selects. */
export interface TextEdit {
  from: number;
  to: number;
  text: string;
  /** The selection afterwards, in the new text. */
  select: [number, number];
}

export type Tool =
  | 'bold'
  | 'italic'
  | 'heading'
  | 'list'
  | 'numbers'
  | 'quote'
  | 'code'
  | 'link'
  | 'table';

const wrap = (text: string, start: number, end: number, mark: string, sample: string): TextEdit => {
  const chosen = text.slice(start, end);
  const size = mark.length;
  // Pressed again it takes the marks away.
  if (
    chosen.length > 0 &&
    text.slice(start - size, start) === mark &&
    text.slice(end, end + size) === mark
  )
    return {
      from: start - size,
      to: end + size,
      text: chosen,
      select: [start - size, end - size],
    };
  const inside = chosen || sample;
  return {
    from: start,
    to: end,
    text: mark + inside + mark,
    select: [start + size, start + size + inside.length],
  };
};

const lines = (
  text: string,
  start: number,
  end: number,
  prefix: (at: number) => string,
  known: RegExp,
): TextEdit => {
  const from = text.lastIndexOf('\n', start - 1) + 1;
  const stop = text.indexOf('\n', end);
  const to = stop === -1 ? text.length : stop;
  const all = text.slice(from, to).split('\n');
  const marked = all.every((line) => known.test(line));
  const changed = all
    .map((line, at) => (marked ? line.replace(known, '') : prefix(at) + line))
    .join('\n');
  return { from, to, text: changed, select: [from + changed.length, from + changed.length] };
};

/** A block of its own, with empty lines around it. */
const block = (
  text: string,
  start: number,
  end: number,
  body: string,
  select: string,
): TextEdit => {
  const before = start === 0 || text.slice(0, start).endsWith('\n\n') ? '' : '\n\n';
  const lead = before !== '' && text.slice(0, start).endsWith('\n') ? '\n' : before;
  const after = text.slice(end).startsWith('\n') ? '' : '\n';
  const at = start + lead.length + body.indexOf(select);
  return { from: start, to: end, text: lead + body + after, select: [at, at + select.length] };
};

/** @param start,end the selection in the text, UTF-16 units */
export const editFor = (tool: Tool, text: string, start: number, end: number): TextEdit => {
  const chosen = text.slice(start, end);
  switch (tool) {
    case 'bold':
      return wrap(text, start, end, '**', '粗体');
    case 'italic':
      return wrap(text, start, end, '*', '斜体');
    case 'heading':
      return lines(text, start, end, () => '## ', /^#{1,6} /);
    case 'list':
      return lines(text, start, end, () => '- ', /^[-*] /);
    case 'numbers':
      return lines(text, start, end, (at) => `${at + 1}. `, /^\d+\. /);
    case 'quote':
      return lines(text, start, end, () => '> ', /^> ?/);
    case 'code':
      return chosen.includes('\n') || (chosen === '' && /(^|\n)$/.test(text.slice(0, start)))
        ? block(text, start, end, `\`\`\`\n${chosen || '代码'}\n\`\`\``, chosen || '代码')
        : wrap(text, start, end, '`', '代码');
    case 'link': {
      const words = chosen || '链接文字';
      const made = `[${words}](https://)`;
      const at = start + made.length - 1;
      return {
        from: start,
        to: end,
        text: made,
        select: chosen === '' ? [start + 1, start + 1 + words.length] : [at, at],
      };
    }
    default:
      return block(text, start, end, '| 列一 | 列二 |\n| --- | --- |\n| 内容 | 内容 |', '列一');
  }
};
