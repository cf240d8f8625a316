import {
  bounds,
  type Budget,
  cutText,
  field,
  type Fields,
  finishSession,
  Followers,
  type ImportedMessage,
  type ImportedSession,
  isFields,
  type MessageRow,
  sessionName,
  type Skipped,
  timeOf,
  words,
} from './import-shape.ts';

/**
 * Reads a conversation of ChatGPT's conversations.json: a tree of single messages, each of which
 * names its parent. Nothing here recurses: a tree may be as deep as its file is long.
 */

interface TreeNode {
  id: string;
  fields: Fields;
  parent: TreeNode | null;
  children: TreeNode[];
}

type Said =
  | { kind: 'user' | 'assistant'; text: string; reasoning: string; model: string; time: unknown }
  | { kind: 'nothing' };

/** A question with what was answered so far, on the way down one branch. */
interface OpenRow {
  human: string;
  ai: string[];
  reasoning: string[];
  model: string;
  asked: unknown;
  answered: unknown;
}

interface Visit {
  node: TreeNode;
  /** Place of the row that comes before. */
  before: number;
  open: OpenRow | null;
}

const texts = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((part): part is string => typeof part === 'string') : [];

const fenced = (text: string, language = ''): string => {
  const longest = Math.max(2, ...Array.from(text.matchAll(/`{3,}/g), ([run]) => run.length));
  const fence = '`'.repeat(Math.min(longest, 20) + 1);
  return `${fence}${language}\n${text}\n${fence}`;
};

const partText = (part: unknown): string => {
  if (typeof part === 'string') return part;
  if (!isFields(part)) return '';
  const type = field(part, 'content_type');
  const text = field(part, 'text');
  if (typeof text === 'string') return text;
  return type === 'image_asset_pointer' ? '［图片］' : '［附件］';
};

const thoughtsText = (value: unknown): string =>
  (Array.isArray(value) ? value : [])
    .filter(isFields)
    .map((thought) =>
      [field(thought, 'summary'), field(thought, 'content')]
        .filter((part) => typeof part === 'string' && part !== '')
        .join('\n'),
    )
    .join('\n\n');

const language = (value: unknown): string =>
  typeof value === 'string' && /^[\w+#-]{1,30}$/.test(value) && value !== 'unknown' ? value : '';

/** Text and thinking of a message's content; null for kinds that are not known. */
const contentOf = (content: Fields): { text: string; reasoning: string } | null => {
  const parts = field(content, 'parts');
  const text = field(content, 'text');
  switch (field(content, 'content_type')) {
    case 'text':
      return { text: texts(parts).join('\n'), reasoning: '' };
    case 'multimodal_text':
      return {
        text: (Array.isArray(parts) ? parts : []).map(partText).filter(Boolean).join('\n\n'),
        reasoning: '',
      };
    case 'code':
      return {
        text: typeof text === 'string' ? fenced(text, language(field(content, 'language'))) : '',
        reasoning: '',
      };
    case 'execution_output':
      return { text: typeof text === 'string' ? fenced(text) : '', reasoning: '' };
    case 'thoughts':
      return { text: '', reasoning: thoughtsText(field(content, 'thoughts')) };
    case 'reasoning_recap':
    case 'user_editable_context':
    case 'model_editable_context':
      return { text: '', reasoning: '' };
    default:
      if (texts(parts).length > 0) return { text: texts(parts).join('\n'), reasoning: '' };
      return typeof text === 'string' ? { text, reasoning: '' } : null;
  }
};

const attachmentsText = (metadata: Fields): string => {
  const list = field(metadata, 'attachments');
  return (Array.isArray(list) ? list.slice(0, 20) : [])
    .filter(isFields)
    .map((file) => words(field(file, 'name'), 200))
    .filter((name) => name !== '')
    .map((name) => `［附件：${name}］`)
    .join('\n');
};

const nothing: Said = { kind: 'nothing' };

const saidBy = (node: TreeNode, onUnknown: (type: string) => void): Said => {
  const message = field(node.fields, 'message');
  if (!isFields(message)) return nothing;
  const author = field(message, 'author');
  const role = isFields(author) ? field(author, 'role') : null;
  const content = field(message, 'content');
  const given = field(message, 'metadata');
  const metadata: Fields = isFields(given) ? given : {};
  if (field(metadata, 'is_visually_hidden_from_conversation') === true) return nothing;
  if (!isFields(content) || (role !== 'user' && role !== 'assistant' && role !== 'tool'))
    return nothing;
  const type = field(content, 'content_type');
  // What tools found is the model's to read; what they made is shown.
  if (role === 'tool' && type !== 'execution_output' && type !== 'multimodal_text') return nothing;
  const read = contentOf(content);
  if (!read) {
    onUnknown(words(type, 40));
    return nothing;
  }
  const attached = role === 'user' ? attachmentsText(metadata) : '';
  const text = [read.text, attached].filter((part) => part.trim() !== '').join('\n\n');
  if (text === '' && read.reasoning === '') return nothing;
  return {
    kind: role === 'user' ? 'user' : 'assistant',
    text,
    reasoning: read.reasoning,
    model: words(field(metadata, 'model_slug'), 100),
    time: field(message, 'create_time'),
  };
};

/** The tree by its parents: each message has one, so that none can be reached twice. */
const treeOf = (mapping: Fields): { roots: TreeNode[]; nodes: Map<string, TreeNode> } => {
  const nodes = new Map<string, TreeNode>();
  for (const [id, fields] of Object.entries(mapping))
    if (isFields(fields)) nodes.set(id, { id, fields, parent: null, children: [] });
  const roots: TreeNode[] = [];
  for (const node of nodes.values()) {
    const parent = field(node.fields, 'parent');
    const above = typeof parent === 'string' ? nodes.get(parent) : undefined;
    if (above && above !== node) {
      node.parent = above;
      above.children.push(node);
    } else roots.push(node);
  }
  for (const node of nodes.values()) {
    if (node.children.length < 2) continue;
    const order = new Map(texts(field(node.fields, 'children')).map((id, at) => [id, at]));
    node.children.sort((one, other) => (order.get(one.id) ?? 1e9) - (order.get(other.id) ?? 1e9));
  }
  return { roots, nodes };
};

/** The messages that were shown last: from the current one up. */
const pathTo = (current: TreeNode | undefined): Set<TreeNode> => {
  const path = new Set<TreeNode>();
  for (let node = current ?? null; node && !path.has(node); node = node.parent) path.add(node);
  return path;
};

/** Null where there is nothing to read. */
export const readChatGptSession = (
  value: Fields,
  at: number,
  { budget, skipped, now }: { budget: Budget; skipped: Skipped; now: number },
): ImportedSession | null => {
  const title = words(field(value, 'title'), 2_000);
  const name = sessionName(at, title);
  const mapping = field(value, 'mapping');
  if (!isFields(mapping)) {
    skipped.add(`${name}：没有消息`);
    return null;
  }
  const slug = words(field(value, 'default_model_slug'), 100) || 'chatgpt';
  const createdAt = timeOf(field(value, 'create_time'), now);
  const { roots, nodes } = treeOf(mapping);
  const current = field(value, 'current_node');
  const path = pathTo(typeof current === 'string' ? nodes.get(current) : undefined);
  const unknown = new Set<string>();
  const messages: ImportedMessage[] = [];
  const followers = new Followers();
  let full = false;
  let seen = 0;
  let cut = 0;

  const keep = (open: OpenRow, before: number, last: TreeNode): number => {
    const told = [open.human, open.ai.join('\n\n'), open.reasoning.join('\n\n')];
    const [human = '', ai = '', reasoning = ''] = told.map((text) => words(text, bounds.text));
    const asked = timeOf(open.asked, now) ?? createdAt ?? new Date(now).toISOString();
    const shown = path.has(last);
    const row: MessageRow = {
      human,
      ai,
      reasoning,
      parts: ai === '' && reasoning === '' ? [] : [reasoning.length, ai.length],
      request: null,
      title: '',
      type: 0,
      model: open.model || slug,
      state: ai === '' ? 'none' : 'done',
      error_code: '',
      error_message: '',
      shown,
      branch_rank: shown ? 1 : 0,
      place: 0,
      prompt_tokens: 0,
      completion_tokens: 0,
      created_at: asked,
      answered_at: ai === '' ? null : timeOf(open.answered, now),
      edited_at: null,
    };
    if (!budget.take(row)) {
      full = true;
      return before;
    }
    if (told.some((text) => text.length > bounds.text)) cut += 1;
    const at = messages.length;
    messages.push({ row, before: followers.place(before, at), group: -1 });
    return at;
  };

  const waiting: Visit[] = roots.map((node): Visit => ({ node, before: -1, open: null })).reverse();
  while (waiting.length > 0) {
    if (full) break;
    const visit = waiting.pop();
    if (!visit) break;
    const { node } = visit;
    let { before, open } = visit;
    seen += 1;
    const said = saidBy(node, (type) => unknown.add(type));
    if (said.kind === 'user') {
      if (open && node.parent) before = keep(open, before, node.parent);
      open = {
        human: said.text,
        ai: [],
        reasoning: [],
        model: '',
        asked: said.time,
        answered: null,
      };
    } else if (said.kind === 'assistant') {
      open ??= { human: '', ai: [], reasoning: [], model: '', asked: said.time, answered: null };
      if (said.text !== '') open.ai.push(said.text);
      if (said.reasoning !== '') open.reasoning.push(said.reasoning);
      open.model = said.model || open.model;
      open.answered = said.time ?? open.answered;
    }
    const { children } = node;
    if (children.length === 0 && open) keep(open, before, node);
    if (children.length > 1 && open) {
      const asksOn = children.some((child) => saidBy(child, () => {}).kind === 'user');
      // What was answered before a fork is kept once; a bare question goes with each answer.
      if (open.ai.length > 0 || open.reasoning.length > 0 || asksOn) {
        before = keep(open, before, node);
        open = null;
      }
    }
    for (let child = children.length - 1; child >= 0; child--) {
      const next = children[child];
      if (!next) continue;
      const own = open && children.length > 1 ? { ...open, ai: [], reasoning: [] } : open;
      waiting.push({ node: next, before, open: own });
    }
  }
  if (cut > 0) skipped.add(`${name}：有 ${cut} 条消息${cutText}`);
  followers.tell(name, skipped);
  if (full) skipped.add(`${name}：内容超出了一次能导入的数量，后面的没有导入`);
  else if (seen < nodes.size)
    skipped.add(`${name}：有 ${nodes.size - seen} 条消息首尾相接，读不出先后`);
  for (const type of unknown) skipped.add(`${name}：不认识的内容（${type || '没有类型'}）`);
  const session = finishSession(
    { model: slug, title, createdAt, updatedAt: timeOf(field(value, 'update_time'), now) },
    messages,
    now,
  );
  if (!session) skipped.add(`${name}：里面没有消息`);
  return session;
};
