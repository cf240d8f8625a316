import { bounds } from '#contract/bounds.ts';
import { api } from '#src/platform/api.ts';
import { useCall } from '#src/platform/call-query.ts';
import { dateTime } from '#src/platform/format.ts';
import { toast } from '#src/platform/toast.ts';
import { EmptyState } from '#src/ui/empty-state.tsx';
import { Form } from '#src/ui/form/form.tsx';
import { QueryFailed } from '#src/ui/load-failed.tsx';
import { Sheet } from '#src/ui/sheet.tsx';
import { Skeleton } from '#src/ui/skeleton.tsx';
import { reportWords } from '#src/widgets/editor/report-words.ts';
import { Markdown } from '#src/widgets/markdown/markdown.tsx';
import type { ReportReason } from '#contract/forum.ts';
import css from './question.module.css';

/** Tells the managers of a message, or of the question or private talk as a whole. */
export const ReportSheet = ({
  uuid,
  id,
  whole = '这个问题',
  onClose,
}: {
  uuid: string;
  /** Null: the whole of it. */
  id: number | null;
  whole?: string;
  onClose: () => void;
}) => (
  <Sheet open onClose={onClose} title={`举报${id === null ? whole : '这条消息'}`}>
    <Form
      fields={[
        {
          name: 'reason',
          kind: 'choice',
          required: true,
          options: Object.entries(reportWords).map(([value, label]) => ({ value, label })),
        },
        { name: 'note', kind: 'long', ...bounds.report, placeholder: '可以不填' },
      ]}
      initial={{ reason: 'spam', note: '' }}
      submit="举报"
      draft={`report.${uuid}.${id ?? 'all'}`}
      onSubmit={async (values) => {
        await api.report(
          {
            session_id: uuid,
            ...(id === null ? {} : { history_id: id }),
            reason: String(values['reason']) as ReportReason,
            note: String(values['note'] ?? ''),
          },
          { quiet: true },
        );
        toast('已收到举报，我们会尽快处理', 'success');
        onClose();
      }}
    />
  </Sheet>
);

/** What a message said before it was changed. */
export const EditsSheet = ({
  uuid,
  id,
  onClose,
}: {
  uuid: string;
  id: number;
  onClose: () => void;
}) => {
  const edits = useCall('messageEdits', { session_id: uuid, history_id: id }, { staleTime: 0 });
  return (
    <Sheet open onClose={onClose} title="修改记录">
      {edits.isPending && <Skeleton lines={6} />}
      {edits.isError && !edits.data && <QueryFailed query={edits} />}
      {edits.data?.list.length === 0 && <EmptyState icon="edit" text="没有修改记录" />}
      <ol className={css.edits}>
        {edits.data?.list.map((edit) => (
          <li key={edit.created_at}>
            <p>
              <time dateTime={edit.created_at}>{dateTime(edit.created_at)}</time> 之前是这样的：
            </p>
            {edit.title !== '' && <h3>{edit.title}</h3>}
            <Markdown text={edit.content} />
          </li>
        ))}
      </ol>
    </Sheet>
  );
};

/** What managers may say of a question. */
export const ManageSheet = ({
  uuid,
  question,
  groups,
  onClose,
}: {
  uuid: string;
  question: { essence: boolean; pinned: boolean; closed: boolean; group_id: number };
  groups: readonly { id: number; name: string }[];
  onClose: () => void;
}) => (
  <Sheet open onClose={onClose} title="管理这个问题">
    <Form
      fields={[
        { name: 'essence', kind: 'switch' },
        { name: 'pinned', kind: 'switch' },
        { name: 'closed', kind: 'switch', hint: '关闭之后不能再回复和修改' },
        {
          name: 'group_id',
          kind: 'choice',
          required: true,
          options: groups.map(({ id, name }) => ({ value: String(id), label: name })),
        },
      ]}
      initial={{ ...question, group_id: String(question.group_id) }}
      onSubmit={async (_, { group_id: group, ...marks }) => {
        await api.markQuestion(
          {
            session_id: uuid,
            ...Object.fromEntries(Object.entries(marks).map(([mark, on]) => [mark, on ? 1 : 0])),
            ...(group === undefined ? {} : { group_id: Number(group) }),
          },
          { quiet: true },
        );
        toast('已保存', 'success');
        onClose();
      }}
    />
  </Sheet>
);
