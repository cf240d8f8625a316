import type { ApiOptions } from '#src/platform/server-api.ts';
import { ApiError } from '#src/platform/api-error.ts';
import { toast } from '#src/platform/toast.ts';
import { useAct } from '#src/platform/use-act.ts';
import { useState } from 'react';
import { Button } from '../button.tsx';
import { alertDialog, confirmDialog } from '../dialog.ts';

export interface ChosenAct<Row> {
  label: string;
  danger?: boolean;
  /** Those of the chosen rows that it is for; all where left out. */
  fits?: (row: Row) => boolean;
  /** Rows with the same are one thing: what is done to one is done to all. */
  thing?: (row: Row) => string;
  /** What is asked before so many are changed; nothing where left out. */
  sure?: (count: number) => string;
  /** `quiet` is for its call: what came of each row is told together. */
  run: (row: Row, quiet: ApiOptions) => Promise<unknown>;
}

const quiet = { quiet: true };

/** Why it could not be done to a row; null: it was done. */
const failureOf = async (work: () => Promise<unknown>): Promise<string | null> => {
  try {
    await work();
    return null;
  } catch (error) {
    if (error instanceof ApiError) return error.message;
    throw error;
  }
};

/**
 * What can be done to the chosen rows of a table, one after the other: one that fails leaves the
 * others, and stays chosen.
 */
export const ChosenActs = <Row,>({
  rows,
  acts,
  nameOf,
  onDone,
}: {
  rows: readonly Row[];
  acts: readonly ChosenAct<Row>[];
  /** What a row is called where its outcome is told. */
  nameOf: (row: Row) => string;
  /** Hears which rows stay chosen. */
  onDone: (failed: readonly Row[]) => void;
}) => {
  const { busy, run } = useAct();
  const [begun, setBegun] = useState<{ label: string; done: number }>();
  const doAll = async ({ label, thing, run: act }: ChosenAct<Row>, fit: readonly Row[]) => {
    const outcomes = new Map<string, string | null>();
    const told: { row: Row; why: string | null }[] = [];
    for (const [at, row] of fit.entries()) {
      setBegun({ label, done: at });
      const key = thing?.(row) ?? String(at);
      const why = outcomes.has(key)
        ? (outcomes.get(key) ?? null)
        : await failureOf(() => act(row, quiet));
      outcomes.set(key, why);
      told.push({ row, why });
    }
    const failed = told.filter(({ why }) => why !== null);
    onDone(failed.map(({ row }) => row));
    if (failed.length === 0) toast(`${label}：${fit.length} 个`, 'success');
    else
      await alertDialog({
        title: `${label}：${fit.length - failed.length} 个成功，${failed.length} 个没有成功`,
        text: told
          .sort((a, b) => Number(a.why === null) - Number(b.why === null))
          .map(({ row, why }) => `${nameOf(row)}：${why ?? '成功'}`)
          .join('\n'),
      });
  };
  const begin = async (act: ChosenAct<Row>, fit: readonly Row[]) => {
    const { label, danger = false, sure } = act;
    if (sure && !(await confirmDialog({ text: sure(fit.length), ok: label, danger }))) return;
    await run(() => doAll(act, fit));
    setBegun(undefined);
  };
  return acts.map((act) => {
    const fit = rows.filter(act.fits ?? (() => true));
    return (
      <Button
        key={act.label}
        size="small"
        kind={act.danger ? 'danger' : 'plain'}
        disabled={busy || fit.length === 0}
        onClick={() => begin(act, fit)}
      >
        {act.label}
        {begun?.label === act.label && fit.length > 1 && ` ${begun.done + 1}/${fit.length}`}
      </Button>
    );
  });
};
