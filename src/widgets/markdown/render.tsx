import type { MarkedToken, Token, Tokens } from 'marked';
import { Fragment, memo, useContext, useState, type ReactNode } from 'react';
import { CodeBox } from './code-box.tsx';
import { Diagram } from './diagram.tsx';
import { diagramFits } from '#common/markdown/bounds.ts';
import type { Block, TextBlock } from '#common/markdown/document.ts';
import { decodeEntities } from '#common/markdown/entities.ts';
import { ForeignImage, isForeign } from '#src/widgets/image/foreign-image.tsx';
import { WithMadeMark } from '#src/widgets/image/with-made-mark.tsx';
import { Cited, holdsCitation } from './citations.tsx';
import { Formula } from './formula.tsx';
import { tokensOf } from '#common/markdown/lex.ts';
import { ByManagers, Navigate } from './navigate.ts';
import { safeImage, safeLink } from '#common/markdown/safe-url.ts';
import css from './markdown.module.css';

const deepest = 40;

const SafeLink = ({
  href,
  title,
  children,
}: {
  href: string;
  title?: string | null | undefined;
  children: ReactNode;
}) => {
  const navigate = useContext(Navigate);
  const byManagers = useContext(ByManagers);
  const link = safeLink(decodeEntities(href), globalThis.location?.origin, byManagers);
  if (!link) return <span title={title ?? undefined}>{children}</span>;
  if (link.internal)
    return (
      <a
        href={link.href}
        title={title ?? undefined}
        onClick={(event) => {
          if (!navigate || event.metaKey || event.ctrlKey || event.shiftKey) return;
          event.preventDefault();
          navigate(link.href);
        }}
      >
        {children}
      </a>
    );
  return (
    <a
      href={link.href}
      title={title ?? undefined}
      target="_blank"
      rel="noopener noreferrer nofollow"
    >
      {children}
    </a>
  );
};

const SafeImage = ({ src, alt }: { src: string; alt: string }) => {
  const [failed, setFailed] = useState(false);
  const url = safeImage(decodeEntities(src));
  const words = decodeEntities(alt);
  if (url === null || failed)
    return (
      <span className={css.imageWords}>{words === '' ? '［图片］' : `［图片：${words}］`}</span>
    );
  if (isForeign(url)) return <ForeignImage url={url} alt={words} />;
  return (
    <span className={css.imageBox}>
      <img
        src={url}
        alt={words}
        loading="lazy"
        decoding="async"
        referrerPolicy="no-referrer"
        onError={() => setFailed(true)}
      />
      <WithMadeMark url={url} />
    </span>
  );
};

const Table = ({ token, depth }: { token: Tokens.Table; depth: number }) => {
  const cell = (content: Tokens.TableCell, at: number, Tag: 'th' | 'td') => (
    <Tag key={at} data-align={content.align ?? undefined}>
      {renderTokens(content.tokens, depth)}
    </Tag>
  );
  return (
    <div className={css.tableBox} data-table tabIndex={0} role="region" aria-label="表格">
      <table>
        <thead>
          <tr>{token.header.map((content, at) => cell(content, at, 'th'))}</tr>
        </thead>
        <tbody>
          {token.rows.map((row, at) => (
            <tr key={at}>{row.map((content, column) => cell(content, column, 'td'))}</tr>
          ))}
        </tbody>
      </table>
    </div>
  );
};

const renderList = (token: Tokens.List, depth: number, start?: number): ReactNode => {
  const items = token.items.map((item, at) => (
    <li key={at} className={item.task ? css.task : undefined}>
      {renderTokens(item.tokens, depth, item.loose)}
    </li>
  ));
  if (!token.ordered) return <ul data-loose={token.loose || undefined}>{items}</ul>;
  const first = start ?? (typeof token.start === 'number' ? token.start : 1);
  return (
    <ol start={first} data-loose={token.loose || undefined}>
      {items}
    </ol>
  );
};

const headings = ['h2', 'h3', 'h4', 'h5', 'h6', 'h6'] as const;

const wordsOf = (text: string): ReactNode => {
  const words = decodeEntities(text);
  return holdsCitation(words) ? <Cited text={words} /> : words;
};

/** What a token becomes. Text is only ever a text node; nothing is parsed as HTML. */
const renderToken = (generic: Token, depth: number, loose: boolean): ReactNode => {
  // The lexer's union has one open member, which makes every field of it `any`.
  const token = generic as MarkedToken;
  switch (token.type) {
    case 'space':
    case 'def':
      return null;
    case 'paragraph':
      return <p>{renderTokens(token.tokens, depth)}</p>;
    case 'text': {
      const nested = 'tokens' in token ? token.tokens : undefined;
      const content = nested ? renderTokens(nested, depth) : wordsOf(token.text);
      return loose && nested ? <p>{content}</p> : content;
    }
    case 'escape':
      return token.text;
    case 'strong':
      return <strong>{renderTokens(token.tokens, depth)}</strong>;
    case 'em':
      return <em>{renderTokens(token.tokens, depth)}</em>;
    case 'del':
      return <del>{renderTokens(token.tokens, depth)}</del>;
    case 'codespan':
      return <code>{token.text}</code>;
    case 'br':
      return <br />;
    case 'link':
      return (
        <SafeLink href={token.href} title={token.title}>
          {renderTokens(token.tokens, depth)}
        </SafeLink>
      );
    case 'image':
      return <SafeImage src={token.href} alt={token.text} />;
    case 'heading': {
      const Tag = headings[token.depth - 1] ?? 'h6';
      return <Tag>{renderTokens(token.tokens, depth)}</Tag>;
    }
    case 'hr':
      return <hr />;
    case 'blockquote':
      return <blockquote>{renderTokens(token.tokens, depth)}</blockquote>;
    case 'list':
      return renderList(token, depth);
    case 'checkbox':
      return <input type="checkbox" checked={token.checked} disabled readOnly aria-label="待办" />;
    case 'table':
      return <Table token={token} depth={depth} />;
    case 'code':
      return <CodeBox pieces={[token.text]} language={token.lang ?? ''} open={false} />;
    case 'html':
      return token.text;
    default:
      return renderOther(generic);
  }
};

const renderOther = (token: Token): ReactNode => {
  if (token.type === 'math' && 'text' in token)
    return (
      <Formula text={String(token.text)} display={'display' in token && token.display === true} />
    );
  return token.raw;
};

export const renderTokens = (
  tokens: readonly Token[] | undefined,
  depth: number,
  loose = false,
): ReactNode => {
  if (!tokens) return null;
  if (depth > deepest) return tokens.map((token) => token.raw).join('');
  return tokens.map((token, at) => (
    <Fragment key={at}>{renderToken(token, depth + 1, loose)}</Fragment>
  ));
};

const TextView = ({ block }: { block: TextBlock }): ReactNode => {
  const tokens = tokensOf(block);
  if (block.start === undefined) return renderTokens(tokens, 0);
  return tokens.map((token, at) => (
    <Fragment key={at}>
      {token.type === 'list' && at === 0
        ? renderList(token as Tokens.List, 1, block.start)
        : renderToken(token, 1, false)}
    </Fragment>
  ));
};

const mathSource = (text: string): string =>
  text
    .trim()
    .replace(/^(?:\$\$|\\\[)/, '')
    .replace(/(?:\$\$|\\\])$/, '')
    .trim();

/** One block. Rendered again only when it is another object. */
export const BlockView = memo(function BlockView({ block }: { block: Block }): ReactNode {
  switch (block.kind) {
    case 'math':
      // A formula that is half there is no formula; its source would only flicker.
      return block.open ? (
        <p className={css.formulaSource}>{block.text}</p>
      ) : (
        <Formula text={mathSource(block.text)} display />
      );
    case 'code':
      if (!block.open && /^mermaid\b/i.test(block.language)) {
        const source = block.pieces.join('\n');
        if (diagramFits(source)) return <Diagram source={source} />;
      }
      return <CodeBox pieces={block.pieces} language={block.language} open={block.open} />;
    default:
      return (
        <div className={css.textBlock} data-block data-continues={block.continues || undefined}>
          <TextView block={block} />
        </div>
      );
  }
});
