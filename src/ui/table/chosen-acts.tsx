import { useAct } from '#src/platform/use-act.ts';
import { Button } from '../button.tsx';
import { confirmDialog } from '../dialog.ts';

export interface ChosenAct<Row> {
  label: string;
  danger?: boolean;
  /** Those of the chosen rows that it is for; all where left out. */
  fits?: (row: Row) => boolean;
  /** What is asked before so many are changed; nothing where left out. */
  sure?: (count: number) => string;
  run: (row: Row) => Promise<unknown>;
}

/** What can be done to the chosen rows of a table, one row after the other. */
export const ChosenActs = <Row,>({
  rows,
  acts,
  onDone,
}: {
  rows: readonly Row[];
  acts: readonly ChosenAct<Row>[];
  onDone: () => void;
}) => {
  const { busy, run } = useAct();
  const begin = async (act: ChosenAct<Row>, fit: readonly Row[]) => {
    const { label, danger = false, sure } = act;
    if (sure && !(await confirmDialog({ text: sure(fit.length), ok: label, danger }))) return;
    const isDone = await run(async () => {
      for (const row of fit) await act.run(row);
    }, `${label}：${fit.length} 个`);
    if (isDone) onDone();
  };
  return acts.map((act) => {
    const fit = rows.filter(act.fits ?? (() => true));
    return (
      <Button
        key={act.label}
        size="small"
        kind={act.danger ? 'danger' : 'plain'}
        disabled={busy || fit.length === 0}
        onClick={() => void begin(act, fit)}
      >
        {act.label}
      </Button>
    );
  });
};
