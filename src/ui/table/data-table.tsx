import { limits } from '#contract/limits.ts';
import { ApiError } from '#src/platform/api-error.ts';
import { useMedia } from '#src/platform/use-media.ts';
import { wideEnoughForMenu } from '#src/platform/wide-enough.ts';
import {
  columnVisibilityFeature,
  createSortedRowModel,
  rowSelectionFeature,
  rowSortingFeature,
  tableFeatures,
  useTable,
  type ColumnDef,
} from '@tanstack/react-table';
import { type ComponentProps, useMemo, useState, type KeyboardEvent, type ReactNode } from 'react';
import { Button } from '../button.tsx';
import { EmptyState } from '../empty-state.tsx';
import { Icon } from '../icon.tsx';
import { LoadFailed } from '../load-failed.tsx';
import { Pager } from '../pager/pager.tsx';
import { Sheet } from '../sheet.tsx';
import { SwitchField } from '../switch-field.tsx';
import { csvOf, saveText } from './csv.ts';
import type { Sorting } from './sorted.ts';
import css from './data-table.module.css';

const features = tableFeatures({
  rowSortingFeature,
  sortedRowModel: createSortedRowModel(),
  columnVisibilityFeature,
  rowSelectionFeature,
});

type Value = string | number | null;
type Chosen = Record<string, true>;
const chooseAlso = (before: Chosen, id: string, on: boolean): Chosen => {
  const { [id]: _, ...others } = before;
  return on ? { ...others, [id]: true } : others;
};

export interface Column<Row> {
  key: string;
  title: string;
  /** What is sorted by and goes into the CSV. */
  value: (row: Row) => Value;
  /** How it is shown; its value where left out. */
  render?: (row: Row) => ReactNode;
  /** end: numbers. */
  align?: 'start' | 'end';
  /** Rows that are all at hand can be sorted by it; a page of them, by what its server offers. */
  sortable?: boolean;
  /** title: the head of a card; plain: without its name in a card; bare: acts, not in the CSV. */
  role?: 'title' | 'plain' | 'bare';
  /** Takes the room that is left and is cut to one line. */
  wide?: boolean;
  /** A long code, whose beginning tells enough in a table. */
  code?: boolean;
  /** Shown only once somebody chooses it. */
  spare?: boolean;
  /** Left out while no row has it. */
  rare?: boolean;
}

export interface DataTableProps<Row> {
  /** What a screen reader calls it; also names the CSV. */
  name: string;
  columns: readonly Column<Row>[];
  /** Undefined while they are read. */
  rows: readonly Row[] | undefined;
  rowKey: (row: Row) => string;
  empty: ComponentProps<typeof EmptyState>;
  error?: unknown;
  busy?: boolean;
  onRetry?: () => void;
  page?: number;
  pageCount?: number;
  total?: number;
  /** Where the server sorts. */
  sorting?: Sorting;
  /** `instead`: the page takes the place of the one that is shown. */
  onPage?: (page: number, instead?: boolean) => void;
  /** Highlights a row. */
  tone?: (row: Row) => 'good' | 'bad' | 'gold' | undefined;
  onOpen?: (row: Row) => void;
  /** What can be done with the chosen rows; present: rows can be chosen. `keep`: these stay so. */
  renderChosen?: (rows: readonly Row[], keep: (rows?: readonly Row[]) => void) => ReactNode;
  /** False: the rows are saved elsewhere, whole. */
  csv?: boolean;
  /** False: neither CSV nor choice of columns. */
  tools?: boolean;
}

const keptColumns = (name: string) => `queqiao.columns.${name}`;
const readKept = (name: string): Record<string, boolean> => {
  try {
    return JSON.parse(localStorage.getItem(keptColumns(name)) ?? '{}') as Record<string, boolean>;
  } catch {
    return {};
  }
};

const compare = (a: Value, b: Value): number => {
  if (a === b) return 0;
  if (a === null) return -1;
  if (b === null) return 1;
  return typeof a === 'number' && typeof b === 'number'
    ? a - b
    : String(a).localeCompare(String(b), 'zh-CN');
};

const roomFor = (
  column: { align?: 'start' | 'end'; wide?: boolean; code?: boolean; role?: string } | undefined,
): string =>
  [
    column?.align === 'end' && css.end,
    column?.wide && css.wide,
    column?.code && css.code,
    column?.role === 'bare' && css.bare,
  ]
    .filter(Boolean)
    .join(' ');

/** Moves the focus among rows with the arrows; Enter and Space are the row's own. */
const moveAmongRows = (event: KeyboardEvent<HTMLElement>) => {
  const rows = [...event.currentTarget.querySelectorAll<HTMLElement>('[data-row]')];
  const at = rows.findIndex((row) => row === document.activeElement);
  if (at < 0) return;
  const step = { ArrowDown: 1, ArrowUp: -1, Home: -rows.length, End: rows.length }[event.key];
  if (step === undefined) return;
  event.preventDefault();
  rows[Math.max(0, Math.min(rows.length - 1, at + step))]?.focus();
};

const Waiting = ({ columns }: { columns: number }) => (
  <div className={css.waiting} aria-hidden="true">
    {Array.from({ length: 6 }, (_, row) => (
      <div key={row}>
        {Array.from({ length: Math.min(columns, 5) }, (_, cell) => (
          <span key={cell} />
        ))}
      </div>
    ))}
  </div>
);

const unknown = '—';
const sortsWhenShort = `筛选到 ${limits.counted.toLocaleString('zh-CN')} 条以内，可以按它排序`;

/**
 * By what the rows are sorted: the key of a column, with a minus for descending (`-created_at`).
 * One page of several is sorted by its server or not at all: its rows alone would say nothing of
 * the others.
 */
const useSort = <Row,>({ sorting, pageCount = 1 }: DataTableProps<Row>) => {
  const [own, setOwn] = useState<string>();
  const canSort = ({ key, sortable }: Column<Row>): boolean =>
    sorting ? sorting.keys.includes(key) : sortable === true && pageCount <= 1;
  const ownSort = sorting || pageCount > 1 ? undefined : own;
  return {
    sort: sorting ? sorting.by : ownSort,
    setSort: sorting ? sorting.onSort : setOwn,
    canSort,
    ownSort,
  };
};

/** What of the rows is shown, in which order, and what is chosen: everything a table remembers. */
const useRows = <Row,>(props: DataTableProps<Row>) => {
  const { name, columns, rows, rowKey, renderChosen } = props;
  const { sort, setSort, canSort, ownSort } = useSort(props);
  const [kept, setKept] = useState(() => readKept(name));
  const byKey = useMemo(() => new Map(columns.map((each) => [each.key, each])), [columns]);
  const defs = useMemo(
    () =>
      columns.map((column): ColumnDef<typeof features, Row & object> => ({
        id: column.key,
        accessorFn: (row) => column.value(row),
        header: column.title,
        sortFn: (a, b) => compare(column.value(a.original), column.value(b.original)),
      })),
    [columns],
  );
  const none = useMemo<(Row & object)[]>(() => [], []);
  const sorting = useMemo(
    () => (ownSort ? [{ id: ownSort.replace(/^-/, ''), desc: ownSort.startsWith('-') }] : []),
    [ownSort],
  );
  const columnVisibility = useMemo(() => {
    const isUsual = ({ spare, rare, value }: Column<Row>): boolean =>
      spare !== true && (rare !== true || (rows ?? []).some((row) => (value(row) ?? '') !== ''));
    return Object.fromEntries(columns.map((each) => [each.key, kept[each.key] ?? isUsual(each)]));
  }, [columns, kept, rows]);
  const [rowSelection, setRowSelection] = useState<Chosen>({});
  const made = useTable({
    features,
    columns: defs,
    data: (rows as (Row & object)[] | undefined) ?? none,
    getRowId: (row) => rowKey(row),
    state: { sorting, columnVisibility, rowSelection },
    onRowSelectionChange: setRowSelection,
    enableRowSelection: renderChosen !== undefined,
  });
  const shownRows = made.getRowModel().rows;
  const shownColumns = columns.filter(({ key }) => columnVisibility[key]);
  const chosen = shownRows.filter((row) => rowSelection[row.id]).map((row) => row.original);
  const keepChosen = (kept: readonly Row[] = []) =>
    setRowSelection(Object.fromEntries(kept.map((row) => [rowKey(row), true as const])));
  const clear = () => keepChosen();
  const turn = (key: string) =>
    setSort(sort === `-${key}` ? key : sort === key ? undefined : `-${key}`);
  const keep = (key: string, on: boolean) => {
    const next = { ...kept, [key]: on };
    setKept(next);
    try {
      localStorage.setItem(keptColumns(name), JSON.stringify(next));
    } catch {
      // It holds as long as the screen is open.
    }
  };
  const choose = (id: string, on: boolean) =>
    setRowSelection((before) => chooseAlso(before, id, on));
  const chooseAll = (on: boolean) =>
    setRowSelection(on ? Object.fromEntries(shownRows.map(({ id }) => [id, true as const])) : {});
  return {
    sort,
    setSort,
    canSort,
    turn,
    columnVisibility,
    keep,
    byKey,
    shownRows,
    shownColumns,
    chosen,
    rowSelection,
    choose,
    chooseAll,
    keepChosen,
    clear,
  };
};

/** What the parts of a table share: what its screen said, and what the table remembers. */
type Parts<Row> = DataTableProps<Row> & { state: ReturnType<typeof useRows<Row>> };

const saveCsv = <Row,>({ name, state: { shownColumns, shownRows, chosen } }: Parts<Row>) => {
  const told = shownColumns.filter(({ role }) => role !== 'bare');
  const source = chosen.length > 0 ? chosen : shownRows.map((row) => row.original);
  saveText(
    `${name}.csv`,
    csvOf([
      told.map(({ title }) => title),
      ...source.map((row) => told.map(({ value }) => value(row))),
    ]),
  );
};

/** What a row is, as a line and as a card: opened by a press or Enter, chosen by Space. */
const rowProps = <Row,>(
  { tone, onOpen, renderChosen, state: { rowSelection, choose } }: Parts<Row>,
  row: Row,
  id: string,
) => ({
  'data-row': id,
  'data-tone': tone?.(row),
  'data-open': onOpen ? '' : undefined,
  tabIndex: 0,
  onClick: (event: React.MouseEvent<HTMLElement>) => {
    const inner = (event.target as HTMLElement).closest('a, button, input, label, summary');
    if (!inner && onOpen && String(getSelection()) === '') onOpen(row);
  },
  onKeyDown: (event: KeyboardEvent<HTMLElement>) => {
    if (event.target !== event.currentTarget) return;
    if (event.key === 'Enter' && onOpen) {
      event.preventDefault();
      onOpen(row);
    }
    if (event.key === ' ' && renderChosen) {
      event.preventDefault();
      choose(id, !rowSelection[id]);
    }
  },
});

const Choose = ({
  label,
  on,
  onChange,
}: {
  label: string;
  on: boolean;
  onChange: (on: boolean) => void;
}) => (
  <label className={css.choose}>
    <input
      type="checkbox"
      aria-label={label}
      checked={on}
      onChange={(event) => onChange(event.target.checked)}
    />
  </label>
);

const ChooseRow = <Row,>({ id, parts }: { id: string; parts: Parts<Row> }) => (
  <Choose
    label="选择这一行"
    on={parts.state.rowSelection[id] === true}
    onChange={(on) => parts.state.choose(id, on)}
  />
);

const show = <Row,>(column: Column<Row>, row: Row) =>
  column.render ? column.render(row) : (column.value(row) ?? unknown);

/** How many there are, and what can be done with them. */
const Tools = <Row,>({
  parts,
  cards,
  onColumns,
}: {
  parts: Parts<Row>;
  cards: boolean;
  onColumns: () => void;
}) => {
  const { columns, rows, total, tools: usual = true, csv = true, renderChosen, state } = parts;
  const { chosen, clear, sort, setSort, canSort } = state;
  const sortable = columns.filter(canSort);
  return (
    <div className={css.tools}>
      <span className={css.count} aria-live="polite">
        {chosen.length > 0
          ? `已选 ${chosen.length} 行`
          : total !== undefined &&
            rows !== undefined &&
            `共 ${total.toLocaleString('zh-CN')} 条${total >= limits.counted ? '以上' : ''}`}
      </span>
      {chosen.length > 0 && (
        <span className={css.acts}>
          {renderChosen?.(chosen, state.keepChosen)}
          <Button size="small" kind="ghost" onClick={clear}>
            取消选择
          </Button>
        </span>
      )}
      {cards && sortable.length > 0 && (
        <select
          className={css.sort}
          aria-label="排序"
          value={sort ?? ''}
          onChange={(event) => setSort(event.target.value || undefined)}
        >
          <option value="">默认顺序</option>
          {sortable.flatMap(({ key, title }) => [
            <option key={`-${key}`} value={`-${key}`}>
              {title}：从大到小
            </option>,
            <option key={key} value={key}>
              {title}：从小到大
            </option>,
          ])}
        </select>
      )}
      {usual && rows && rows.length > 0 && (
        <>
          <Button size="small" kind="ghost" onClick={() => onColumns()}>
            <Icon name="columns" size={16} />列
          </Button>
          {csv && (
            <Button size="small" kind="ghost" onClick={() => saveCsv(parts)}>
              <Icon name="download" size={16} />
              CSV
            </Button>
          )}
        </>
      )}
    </div>
  );
};

const Head = <Row,>({ parts }: { parts: Parts<Row> }) => {
  const { sort, turn, canSort, shownColumns, shownRows, chosen, chooseAll } = parts.state;
  const ofShort = parts.sorting?.ofShort ?? [];
  return (
    <thead>
      <tr>
        {parts.renderChosen && (
          <th scope="col" className={css.choice}>
            <Choose
              label="选择本页全部"
              on={chosen.length > 0 && chosen.length === shownRows.length}
              onChange={chooseAll}
            />
          </th>
        )}
        {shownColumns.map((column) => (
          <th
            key={column.key}
            scope="col"
            className={roomFor(column)}
            title={ofShort.includes(column.key) ? sortsWhenShort : undefined}
            aria-sort={
              sort === column.key
                ? 'ascending'
                : sort === `-${column.key}`
                  ? 'descending'
                  : undefined
            }
          >
            {canSort(column) ? (
              <button type="button" onClick={() => turn(column.key)}>
                {column.title}
                <i aria-hidden="true">
                  {sort === column.key ? '↑' : sort === `-${column.key}` ? '↓' : '↕'}
                </i>
              </button>
            ) : (
              column.title
            )}
          </th>
        ))}
      </tr>
    </thead>
  );
};

const Lines = <Row,>({ parts }: { parts: Parts<Row> }) => (
  <div className={css.scroll} onKeyDown={moveAmongRows} role="presentation">
    <table className={css.table} aria-label={parts.name}>
      <Head parts={parts} />
      <tbody>
        {parts.state.shownRows.map((row) => (
          <tr
            key={row.id}
            {...rowProps(parts, row.original, row.id)}
            aria-selected={
              parts.renderChosen ? parts.state.rowSelection[row.id] === true : undefined
            }
          >
            {parts.renderChosen && (
              <td className={css.choice}>
                <ChooseRow id={row.id} parts={parts} />
              </td>
            )}
            {row.getVisibleCells().map((cell) => {
              const column = parts.state.byKey.get(cell.column.id);
              return (
                <td
                  key={cell.id}
                  className={roomFor(column)}
                  title={column?.code ? String(column.value(row.original) ?? '') : undefined}
                >
                  {column && show(column, row.original)}
                </td>
              );
            })}
          </tr>
        ))}
      </tbody>
    </table>
  </div>
);

const Cards = <Row,>({ parts }: { parts: Parts<Row> }) => (
  <ul className={css.cards} aria-label={parts.name} onKeyDown={moveAmongRows}>
    {parts.state.shownRows.map((row) => (
      <li key={row.id} {...rowProps(parts, row.original, row.id)}>
        {parts.renderChosen && <ChooseRow id={row.id} parts={parts} />}
        <dl>
          {parts.state.shownColumns
            .map((column) => ({ column, shown: show(column, row.original) }))
            // In a card, what is not known takes no room.
            .filter(({ shown }) => shown !== unknown && shown !== '')
            .map(({ column, shown }) => (
              <div key={column.key} data-role={column.role ?? 'named'}>
                <dt>{column.title}</dt>
                <dd>{shown}</dd>
              </div>
            ))}
        </dl>
      </li>
    ))}
  </ul>
);

/** A list as a table from 750 px and as cards below: sorted, paged, chosen from, saved as CSV. */
export const DataTable = <Row,>(props: DataTableProps<Row>) => {
  const { columns, rows, tools = true } = props;
  const table = useMedia(wideEnoughForMenu);
  const [choosing, setChoosing] = useState(false);
  const state = useRows(props);
  const parts = { ...props, state };
  if (props.error && !rows)
    return (
      <LoadFailed
        error={props.error}
        busy={props.busy === true}
        onRetry={
          // A list that has grown too long for its sort is read in its own order.
          state.sort && props.error instanceof ApiError && props.error.status === 422
            ? () => state.setSort(undefined)
            : (props.onRetry ?? state.clear)
        }
      />
    );
  return (
    <div className={css.root} data-busy={(props.busy && rows) || undefined}>
      {(tools || props.total !== undefined) && (
        <Tools parts={parts} cards={!table} onColumns={() => setChoosing(true)} />
      )}
      {rows === undefined && <Waiting columns={columns.length} />}
      {rows && rows.length === 0 && <EmptyState {...props.empty} />}
      {rows && rows.length > 0 && (table ? <Lines parts={parts} /> : <Cards parts={parts} />)}
      {props.onPage && (
        <Pager
          page={props.page ?? 1}
          count={props.pageCount ?? 1}
          isCounted={rows?.length === 0}
          onPage={props.onPage}
        />
      )}
      <Sheet popover="panel" open={choosing} onClose={() => setChoosing(false)} title="显示哪些列">
        {columns
          .filter(({ role }) => role === undefined || role === 'plain')
          .map(({ key, title }) => (
            <SwitchField
              key={key}
              label={title}
              checked={state.columnVisibility[key] === true}
              onChange={(on) => state.keep(key, on)}
            />
          ))}
      </Sheet>
    </div>
  );
};
