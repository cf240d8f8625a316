import { saveText } from '#src/ui/table/csv.ts';
import { api } from '#src/platform/api.ts';
import { toast } from '#src/platform/toast.ts';
import { Form } from '#src/ui/form/form.tsx';
import css from './compliance.module.css';

/** What one person did in a span, for an authority that may ask; the owner alone can take it. */
export const ExportRecords = () => (
  <section className={`card ${css.part}`}>
    <h2>调取记录</h2>
    <p>
      只导出一个人、一段时间的记录：登录、发布、生成、操作，连同地址与端口，不含任何人写的内容。谁取的、给谁、为什么，记进操作记录，删不掉。
    </p>
    <Form
      fields={[
        { name: 'user_id', label: '用户编号', kind: 'number', min: 1, required: true },
        { name: 'from', label: '开始日期', kind: 'date', required: true },
        {
          name: 'to',
          label: '结束日期',
          kind: 'date',
          required: true,
          hint: '两天都算在内，北京时间',
        },
        {
          name: 'reason',
          label: '哪个机关，凭什么文书',
          missing: '请写明是哪个机关、凭什么文书',
          kind: 'long',
          lines: 2,
          min: 4,
          max: 500,
          required: true,
        },
      ]}
      submit="导出"
      onSubmit={async ({ user_id: id, from, to, reason }) => {
        const { name, text, count } = await api.exportRecords(
          { user_id: Number(id), from: String(from), to: String(to), reason: String(reason) },
          { quiet: true },
        );
        saveText(name, text);
        toast(`已导出 ${count} 条，记进了操作记录`, 'success');
      }}
    />
  </section>
);
