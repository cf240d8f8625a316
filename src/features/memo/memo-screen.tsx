import { api } from '@/platform/api.ts';
import { dateTime } from '@/platform/format.ts';
import { usePageTitle } from '@/platform/use-page-title.ts';
import { Button } from '@/ui/button.tsx';
import { Form } from '@/ui/form/form.tsx';
import { useQuery } from '@tanstack/react-query';

/** One's own memos, and a way to have them counted. */
export const MemoScreen = () => {
  usePageTitle('便笺');
  const memos = useQuery({
    queryKey: ['memoList'],
    queryFn: ({ signal }) => api.memoList({}, { signal }),
  });
  return (
    <div className="page">
      <header className="page-head">
        <h1>便笺</h1>
      </header>
      <Form
        draft="memo"
        fields={[{ name: 'text', label: '写一张', kind: 'text', required: true, max: 200 }]}
        submit="写好了"
        onSubmit={async ({ text }) => {
          await api.saveMemo({ text: String(text) }, { quiet: true });
        }}
      />
      <ul aria-label="我的便笺">
        {memos.data?.list.map(({ id, text, created_at: at }) => (
          <li key={id}>
            {text} · {dateTime(at)}
          </li>
        ))}
      </ul>
      <Button onClick={() => void api.countMemos({})}>数一数</Button>
    </div>
  );
};
