import type { Out } from '#contract/calls.ts';
import { groupsOf, type Group, type Stretch, type TableLine, wordsOf } from './lines.ts';
import css from './source.module.css';

/** Brings the first of what is marked into sight. */
const toSight = (element: HTMLElement | null): void => {
  const all = element?.closest('[data-original]');
  if (all?.querySelector('mark, [data-marked=true]') === element)
    element?.scrollIntoView({ block: 'center' });
};

const Marked = ({ stretches }: { stretches: readonly Stretch[] }) =>
  stretches.map(({ text, marked }, at) =>
    marked ? (
      <mark key={at} ref={toSight}>
        {text}
      </mark>
    ) : (
      text
    ),
  );

/** A cell with the words in it that are marked in its row. */
const Cell = ({ text, words }: { text: string; words: readonly string[] }) => {
  const word = words.find((each) => text.includes(each));
  if (word === undefined) return text;
  const at = text.indexOf(word);
  return (
    <>
      {text.slice(0, at)}
      <mark>{word}</mark>
      {text.slice(at + word.length)}
    </>
  );
};

const Row = ({ line, names, counted }: { line: TableLine; names: string[]; counted: boolean }) => {
  const whole = line.stretches.length === 1 && line.stretches[0]?.marked === true;
  const words = whole ? [] : line.stretches.flatMap(({ text, marked }) => (marked ? [text] : []));
  return (
    <tr data-around={line.around} data-marked={whole} ref={whole ? toSight : undefined}>
      {counted && <th scope="row">{line.row > 0 ? line.row : ''}</th>}
      {names.map((name) => (
        <td key={name}>
          <Cell text={line.cells.get(name) ?? ''} words={words} />
        </td>
      ))}
    </tr>
  );
};

const Table = ({ names, rows }: Extract<Group, { kind: 'table' }>) => {
  const counted = rows.some(({ row }) => row > 0);
  return (
    <div className={css.table}>
      <table>
        <thead>
          <tr>
            {counted && <th scope="col">行</th>}
            {names.map((name) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((line, at) => (
            <Row key={at} line={line} names={names} counted={counted} />
          ))}
        </tbody>
      </table>
    </div>
  );
};

/** A passage as its file has it: rows in their table, a slide with its number, words as words. */
export const OriginalText = ({
  before,
  stretches,
  after,
  stands,
}: {
  before: string;
  stretches: readonly Stretch[];
  after: string;
  stands: Out<'knowledgePassage'>['stands'];
}) => {
  const around = stands.slide === undefined;
  const groups = groupsOf(
    { before: around ? before : '', stretches, after: around ? after : '' },
    { first: stands.row, last: stands.to_row },
  );
  const text = groups.map((group, at) =>
    group.kind === 'table' ? (
      <Table key={at} {...group} />
    ) : (
      group.lines.map((line, nth) => (
        <p key={`${at} ${nth} ${wordsOf(line).length}`} data-around={line.around}>
          <Marked stretches={line.stretches} />
        </p>
      ))
    ),
  );
  if (around)
    return (
      <div className={css.text} data-original="">
        {text}
      </div>
    );
  return (
    <figure className={css.slide} data-original="">
      <figcaption>第 {stands.slide} 张</figcaption>
      <div className={css.text}>{text}</div>
    </figure>
  );
};
